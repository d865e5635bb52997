package io.erda.simulation.system;

import io.erda.pmem.ReadableDirectory;
import io.erda.protocol.ErdaException;
import io.erda.simulation.Fiber;
import io.erda.simulation.SimulatedCrash;
import io.erda.simulation.SimulatedDevice;
import io.erda.simulation.SimulatedReadableDirectory;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** One client, until it crashes or is closed. */
final class ClientProcess implements StoreUnderTest.ClientEvents {
  private static final long FAILURE_PAUSE_NS = 1 << 14;
  private static final int FAILURES_MAX = 8;

  /** The token of the operations of an iteration. */
  private static final long ITERATION = -1;

  /** After one in so many keys the iteration pauses. */
  private static final int REST_ODDS = 8;

  /** One in so many steps begins an iteration. */
  private static final int ITERATION_ODDS = 8;

  /** One in so many clients only reads the store's files. */
  private static final int FILE_READER_ODDS = 5;

  final int number;
  final SimulatedDevice device;
  final Node node;
  private final World world;
  private final ClientProcesses others;
  private final StoreUnderTest.Client client;
  private final SplittableRandom thoughts;
  private final Handler handler;

  /** Whether it lives in the server's process, and dies with it. */
  final boolean inside;

  private boolean closing;
  private boolean closed;

  /**
   * Whether it needs no server, and may not notice for long that there is another one. When it
   * starts there is one that writes.
   */
  final boolean readsOnly;

  private final long thinkNs;
  private long thinksUntilNs;
  private int failures;
  int open;

  /** Null while there is no iteration. */
  private Iteration iteration;

  private final SplittableRandom iterations;

  /** Whether it waits for the next key. */
  private boolean awaitsKey;

  private long nextKeyNs;

  /** Whether all faults have ended, so that no operation may fail any more. */
  boolean mustSucceed;

  /**
   * @param address of the server
   * @param onServerCrash called when the server's process ends within a step of this client, which
   *     lives in that process; null when the client has a process of its own
   */
  ClientProcess(
      World world,
      ClientProcesses others,
      int number,
      String address,
      Consumer<SimulatedCrash> onServerCrash) {
    this.world = world;
    this.inside = onServerCrash != null;
    this.handler = new Handler(world);
    this.others = others;
    this.number = number;
    thoughts = world.random.split();
    iterations = world.iterations.split();
    boolean byFiles = !inside && others.anyWrites() && mayReadFiles(world);
    readsOnly =
        world.random.nextInt(100) < world.configuration.readersPercent() && others.anyWrites()
            || byFiles;
    thinkNs = 1L << world.random.nextInt(1, 17);
    device = world.network.device("client " + number);
    client =
        byFiles
            ? world.store.read(files(), world.time, this)
            : inside
                ? world.store.connectInside(device, address, world.time, this)
                : world.store.connect(device, address, world.time, this);
    Fiber fiber = world.configuration.clientsCommit() ? new Fiber(world.time) : null;
    world.onEnd(fiber == null ? client::release : () -> fiber.end(client::release));
    node =
        new Node(
            world.time,
            world.random.split(),
            fiber,
            () -> world.guarded("client " + number, this::step),
            inside ? onServerCrash : this::crashedInPost,
            world.configuration.stepNs(),
            world.configuration.idleNs());
    device.onActivity(node::wake);
  }

  private void crashedInPost(SimulatedCrash crash) {
    world.happened(Fault.CLIENT_CRASH_IN_POST);
    others.crashed(crash.where());
    crash();
  }

  /** Throws again a crash that a handler may have caught, or that was lost with its exception. */
  private void requireAlive() {
    device.requireAlive();
    if (inside) {
      world.disk.requireAlive();
    }
  }

  /** Whether a client may read the files: it must run on the server's host. */
  private static boolean mayReadFiles(World world) {
    return world.configuration.network().readsOutlivePeer()
        && world.store.hasReaders()
        && world.readers.nextInt(FILE_READER_ODDS) == 0;
  }

  private ReadableDirectory files() {
    return new SimulatedReadableDirectory(
        world.disk,
        world.time,
        world.configuration.network(),
        world.readers.split(),
        device::isCrashed);
  }

  private int step() {
    if (closing) {
      close();
      return 0;
    }
    int work = 1;
    try {
      work = client.doWork();
    } catch (Handler.Failure e) {
      // The handler's exception. A crash that a later handler caught is lost with it.
      requireAlive();
    }
    if (!world.healing
        && open < world.configuration.pipeline()
        && world.time.nowNs() >= thinksUntilNs
        && !world.workload.isDone()) {
      thinksUntilNs = world.time.nowNs() + thoughts.nextLong(2 * thinkNs);
      world.time.at(thinksUntilNs, node::wake);
      open++;
      if (!world.workload.begin(number, client, readsOnly)) {
        open--;
      }
      work++;
    }
    return work + iterate();
  }

  /** Begins an iteration, or asks for its next key, sometimes after a pause. */
  private int iterate() {
    if (iteration == null
        && world.store.iterates()
        && !world.healing
        && !world.workload.isDone()
        && iterations.nextInt(ITERATION_ODDS) == 0) {
      beginIteration();
    }
    if (iteration == null
        || awaitsKey
        || (!world.healing && world.time.nowNs() < nextKeyNs)
        || world.workload.failure() != null) {
      return 0;
    }
    awaitsKey = true;
    client.next(ITERATION);
    return 1;
  }

  private void beginIteration() {
    iteration = world.workload.beginIteration(number);
    if (iteration != null) {
      client.iterate();
    }
  }

  void iterateAtTheEnd() {
    node.act(() -> {
      beginIteration();
      if (iteration == null) {
        world.fail("another iteration is still under way");
      }
    });
    node.wake();
  }

  /** Whether it waits for the end of an operation. */
  boolean isBusy() {
    return open > 0 || iteration != null;
  }

  private void endIteration() {
    iteration = null;
    world.workload.iterationIsOver();
  }

  /** Makes it close in its next step. */
  void closeSoon() {
    closing = true;
    node.wake();
  }

  /** Ends the faults of this client, which goes on. */
  void recover() {
    closing = false;
    device.crashAfterPosts(0);
    device.releaseCompletions();
    node.recover();
  }

  private void close() {
    closed = true;
    world.happened(Fault.CLIENT_CLOSE);
    try {
      client.close();
    } catch (Handler.Failure e) {
      // The handler's exception. A crash that a later handler caught is lost with it.
      requireAlive();
    }
    if (open > 0 || awaitsKey) {
      world.fail("client " + number + " was closed and not told of " + open + " operations");
    } else if (!device.isIdle()) {
      world.fail("client " + number + " was closed and holds connections or memory");
    }
    crash();
  }

  /** Submits from a handler, perhaps to a client that is being closed, which refuses. */
  private void submit() {
    if (world.healing || world.workload.isDone() || open >= world.configuration.pipeline()) {
      return;
    }
    boolean taken = false;
    open++;
    try {
      taken = world.workload.begin(number, client, readsOnly);
    } catch (IllegalStateException e) {
      if (!closed) {
        throw e;
      }
    }
    if (!taken) {
      open--;
    }
  }

  private void told(long token) {
    open--;
    world.workload.told((int) token, number);
  }

  void getAtTheEnd(int key) {
    open++;
    node.act(() -> {
      if (!world.workload.get(number, client, key)) {
        world.fail("an idle client takes no get");
      }
    });
    node.wake();
  }

  void crash() {
    giveUpIteration();
    node.kill();
    device.crash();
    others.gone(this);
  }

  /** Ends the client together with the process in which it lives. */
  void vanish() {
    giveUpIteration();
    node.kill();
    device.vanish();
  }

  private void giveUpIteration() {
    if (iteration != null) {
      iteration.givenUp();
      endIteration();
    }
  }

  @Override
  public void entry(long token, MemorySegment key, MemorySegment value) {
    awaitsKey = false;
    if (device.isCrashed()) {
      // The process died in a READ of an earlier handler; all outcomes are still passed on after
      // that.
      return;
    }
    if (iteration == null) {
      world.fail("client " + number + " was told of an iteration that it had not begun");
    } else if (key == null) {
      iteration.ended();
      endIteration();
    } else {
      iteration.gave(key, value);
      if (iterations.nextInt(REST_ODDS) == 0) {
        restFor(thinkNs);
      } else {
        node.wake();
      }
    }
    failures = 0;
    handler.told(this::submit);
  }

  /** Pauses before the next key is asked for. */
  private void restFor(long ns) {
    nextKeyNs = world.time.nowNs() + iterations.nextLong(2 * ns);
    world.time.at(nextKeyNs, node::wake);
  }

  @Override
  public void got(long token, MemorySegment value) {
    told(token);
    world.workload.history.ok((int) token, world.workload.identify(value));
    failures = 0;
    handler.told(this::submit);
  }

  @Override
  public void done(long token) {
    told(token);
    world.workload.history.ok((int) token, 0);
    failures = 0;
    handler.told(this::submit);
  }

  @Override
  public void deleted(long token, boolean existed) {
    told(token);
    world.workload.history.ok((int) token, existed ? 1 : 0);
    failures = 0;
    handler.told(this::submit);
  }

  @Override
  public void compared(long token, boolean done) {
    told(token);
    world.workload.history.ok((int) token, done ? 1 : 0);
    failures = 0;
    handler.told(this::submit);
  }

  @Override
  public void failed(long token, RuntimeException why) {
    if (token == ITERATION) {
      awaitsKey = false;
      restFor(FAILURE_PAUSE_NS);
    } else {
      told(token);
      world.workload.history.failed((int) token);
    }
    if (mustSucceed) {
      world.fail("all is well, and client " + number + " was told: " + why);
    }
    if (why instanceof ErdaException.Full full) {
      wasFull(full.what());
    }
    // Retrying at once without a server would find no bugs, and is expensive to simulate.
    failures = Math.min(failures + 1, FAILURES_MAX);
    thinksUntilNs = world.time.nowNs() + thoughts.nextLong(FAILURE_PAUSE_NS << failures);
    handler.told(() -> {});
  }

  private void wasFull(ErdaException.Full.What what) {
    switch (what) {
      case LOG -> world.counted(Fault.LOG_FULL);
      case TABLE -> world.counted(Fault.TABLE_FULL);
      case DISK -> world.counted(Fault.DISK_FULL);
      case CONNECTIONS, QUOTA -> {
        // The exception was configured.
      }
    }
  }

  @Override
  public void unknown(long token, boolean last, RuntimeException why) {
    told(token);
    if (last) {
      world.workload.history.unknown((int) token);
    }
    handler.told(this::submit);
  }

  @Override
  public void broken(long token, RuntimeException why) {
    if (token != ITERATION) {
      told(token);
    }
    world.fail("client " + number + " was told: " + why);
  }
}
