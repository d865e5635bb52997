package io.erda.simulation.system;

import io.erda.protocol.ErdaException;
import io.erda.simulation.SimulatedDevice;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

/** One client, until it crashes. */
final class ClientProcess implements StoreUnderTest.ClientEvents {
  private static final long FAILURE_PAUSE_NS = 1 << 14;
  private static final int FAILURES_MAX = 8;

  final int number;
  final SimulatedDevice device;
  final Node node;
  private final World world;
  private final ClientProcesses others;
  private final StoreUnderTest.Client client;
  private final SplittableRandom thoughts;

  /**
   * Needs no server, and may not notice for long that it is another one. There is one that writes
   * when it starts.
   */
  final boolean readsOnly;

  private final long thinkNs;
  private long thinksUntilNs;
  private int failures;
  int open;

  /** Everything is well: no operation may fail any more. */
  boolean mustSucceed;

  ClientProcess(World world, ClientProcesses others, int number) {
    this.world = world;
    this.others = others;
    this.number = number;
    thoughts = world.random.split();
    readsOnly =
        world.random.nextInt(100) < world.configuration.readersPercent() && others.anyWrites();
    thinkNs = 1L << world.random.nextInt(1, 17);
    device = world.network.device("client " + number);
    client = world.store.connect(device, World.ADDRESS, world.time, this);
    world.onEnd(client::release);
    node =
        new Node(
            world.time,
            world.random.split(),
            () -> world.guarded("client " + number, this::step),
            crash -> {
              world.happened(Fault.CLIENT_CRASH_IN_POST);
              others.crashed(crash.where());
              crash();
            },
            world.configuration.stepNs(),
            world.configuration.idleNs());
    device.onActivity(node::wake);
  }

  private int step() {
    int work = client.doWork();
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
    return work;
  }

  void getAtTheEnd(int key) {
    open++;
    if (!world.workload.get(number, client, key)) {
      world.fail("an idle client takes no get");
    }
    node.wake();
  }

  void crash() {
    node.kill();
    device.crash();
    others.gone(this);
  }

  @Override
  public void got(long token, MemorySegment value) {
    open--;
    world.workload.history.ok((int) token, world.workload.identify(value));
    failures = 0;
  }

  @Override
  public void done(long token) {
    open--;
    world.workload.history.ok((int) token, 0);
    failures = 0;
  }

  @Override
  public void deleted(long token, boolean existed) {
    open--;
    world.workload.history.ok((int) token, existed ? 1 : 0);
    failures = 0;
  }

  @Override
  public void failed(long token, RuntimeException why) {
    open--;
    world.workload.history.failed((int) token);
    if (mustSucceed) {
      world.fail("all is well, and client " + number + " was told: " + why);
    }
    if (why instanceof ErdaException.Full full) {
      wasFull(full.what());
    }
    // Who hammers at a server that is not there learns nothing, and costs the most.
    failures = Math.min(failures + 1, FAILURES_MAX);
    thinksUntilNs = world.time.nowNs() + thoughts.nextLong(FAILURE_PAUSE_NS << failures);
  }

  private void wasFull(ErdaException.Full.What what) {
    switch (what) {
      case LOG -> world.counted(Fault.LOG_FULL);
      case TABLE -> world.counted(Fault.TABLE_FULL);
      case DISK -> world.counted(Fault.DISK_FULL);
      case CONNECTIONS -> {
        // As configured.
      }
    }
  }

  @Override
  public void unknown(long token, RuntimeException why) {
    open--;
  }

  @Override
  public void broken(long token, RuntimeException why) {
    open--;
    world.fail("client " + number + " was told: " + why);
  }
}
