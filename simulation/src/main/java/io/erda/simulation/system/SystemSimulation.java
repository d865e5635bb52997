package io.erda.simulation.system;

import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.Survives;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Root;
import io.erda.rdma.Device;
import io.erda.simulation.SimulatedCrash;
import io.erda.simulation.SimulatedDevice;
import io.erda.simulation.SimulatedDisk;
import io.erda.simulation.SimulatedDisk.Aim;
import io.erda.simulation.SimulatedNetwork;
import io.erda.simulation.VirtualTime;
import io.erda.simulation.history.LinearizabilityChecker;
import io.erda.simulation.history.Outcome;
import io.erda.simulation.history.Verdict;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/**
 * One server host and some clients, from a seed to a verdict.
 *
 * <p>The server crashes and starts again, its host loses power, clients die and others take their
 * place, connections are lost, processes stop for a while; then faults end, everything heals, every
 * operation must end, a new client gets every key, and the history must be linearizable. Where the
 * power fails the store must promise to survive it, so what was acknowledged must be there.
 */
public final class SystemSimulation {
  /** Of each region while nothing is written: what is cleaned then comes to rest. */
  private static final int IDLE_CLEANINGS_MAX = 100;

  private static final String ADDRESS = "store";

  /**
   * When faults have ended every operation ends within this. Well above the time-outs of the
   * clients.
   */
  private static final long PATIENCE_NS = 3_000_000_000L;

  private static final long EVENTS_MAX = 200_000_000L;

  /** In one run of so many, every place that stores is noted, crash or not. */
  private static final long WATCHED_ODDS = 64;

  /** How long what is idle is kept, at most: reservations and time-outs. */
  private static final long IDLE_NS = 1_000_000_000L;

  private static final long FAILURE_PAUSE_NS = 1 << 14;
  private static final int FAILURES_MAX = 8;
  private static final int CROWD = 16;
  private static final int SENDERS_MAX = 32;

  /** Of the places that a crash aims at. */
  private static final int DOUBLING = 6;

  /** In one run of so many the store's creation is interrupted. */
  private static final int FIRST_START_ODDS = 8;

  private static final int DRAIN_ODDS = 3;
  private static final int DRAIN_NS_LOG2_MIN = 4;
  private static final int SERVER_SLOWNESS_LOG2_MAX = 7;
  private static final long DAMAGED_STEP_NS = 1000;
  private static final Fault[] FAULTS = Fault.values();

  private final long seed;
  private final SplittableRandom random;
  private final Configuration configuration;
  private final StoreUnderTest store;
  private final VirtualTime time;
  private final SimulatedNetwork network;
  private final SimulatedDisk disk;
  private final Workload workload;
  private final StoreView view;
  private final VersionWordRules rules;
  private final Map<Fault, Long> faults = new EnumMap<>(Fault.class);
  private final Map<Crash, Long> crashes = new TreeMap<>();
  private final Set<String> places = new TreeSet<>();

  /** Those that live. */
  private final List<ClientProcess> clients = new ArrayList<>();

  private final List<GarbageSender> connectedSenders = new ArrayList<>();
  private int senders;

  private final UnaryOperator<MemoryDirectory> overDirectory;
  private final UnaryOperator<Device> overServerDevice;
  private final long beganNs;
  private final long serverStepNs;

  private SimulatedDevice serverDevice;
  private StoreUnderTest.Server core;
  private Node server;

  /** Of the servers that died. */
  private long cleanings;

  /** Of the disk, from when there is a store. */
  private long roomBytes = Long.MAX_VALUE;

  private long doublings;

  private boolean powerFailsNext;
  private boolean healing;
  private boolean waiting;

  /** Of every process that ever was. */
  private final List<Runnable> releases = new ArrayList<>();

  private boolean watchesWords = true;
  private int nextClient = 1;

  /** The production code under the configuration of a seed. */
  public static SystemSimulation of(long seed) {
    return of(seed, Configuration.random(new SplittableRandom(seed ^ 0x5EED_C0DEL)));
  }

  /** The production code under a configuration. */
  public static SystemSimulation of(long seed, Configuration configuration) {
    return new SystemSimulation(
        seed,
        configuration,
        new ErdaUnderTest(configuration),
        UnaryOperator.identity(),
        UnaryOperator.identity());
  }

  /**
   * Any store.
   *
   * @param overDirectory wraps the directory of each life of the server: where a deliberate defect
   *     comes in
   * @param overServerDevice wraps the device of each life of the server
   */
  public SystemSimulation(
      long seed,
      Configuration configuration,
      StoreUnderTest store,
      UnaryOperator<MemoryDirectory> overDirectory,
      UnaryOperator<Device> overServerDevice) {
    this.seed = seed;
    this.random = new SplittableRandom(seed);
    this.configuration = configuration;
    this.store = store;
    this.overDirectory = overDirectory;
    this.overServerDevice = overServerDevice;
    time = new VirtualTime(random.split());
    network = new SimulatedNetwork(time, random.split(), configuration.network());
    disk = new SimulatedDisk(configuration.domain(), random.split());
    view = new StoreView(disk, configuration.store().geometry());
    rules = new VersionWordRules(disk, configuration.store().geometry());
    workload = new Workload(configuration, random.split(), view::hashSeed);
    if (Long.remainderUnsigned(seed, WATCHED_ODDS) == 0) {
      disk.onEvent(places::add);
    }
    disk.onDrain(this::meanwhile);
    beganNs = time.nowNs();
    // A slow one has more to do in one step: larger batches.
    serverStepNs = configuration.stepNs() << random.nextInt(SERVER_SLOWNESS_LOG2_MAX);
  }

  /** Others go on while the server waits for a drain, now and then. */
  private void meanwhile() {
    if (waiting || random.nextInt(DRAIN_ODDS) != 0) {
      return;
    }
    waiting = true;
    try {
      int longest = 64 - Long.numberOfLeadingZeros(configuration.drainNsMax());
      time.runFor(random.nextLong(1L << random.nextInt(DRAIN_NS_LOG2_MIN, longest)));
    } finally {
      waiting = false;
    }
  }

  /** Does not look at version words: to see what the other checks find. Before {@link #run}. */
  public SystemSimulation withoutWordRules() {
    watchesWords = false;
    return this;
  }

  /** Runs it to its end. */
  public RunResult run() {
    try {
      return runToItsEnd();
    } finally {
      disk.onDrain(() -> {});
      disk.bury();
      for (Runnable release : releases) {
        release(release);
      }
    }
  }

  /** What died in the middle of a step may be in no state to be closed. */
  private static void release(Runnable release) {
    try {
      release.run();
    } catch (RuntimeException | AssertionError ignored) {
      // Its memory is lost until the garbage collector finds it, if ever.
    }
  }

  private RunResult runToItsEnd() {
    if (random.nextInt(FIRST_START_ODDS) == 0 && mayCrashInRecovery()) {
      disk.crashAfter(1 + random.nextInt(1 << random.nextInt(3, 8)));
    }
    startServer();
    for (int i = 0; i < configuration.clients(); i++) {
      startClient();
    }
    if (configuration.faultGapNs() > 0) {
      nextFault();
    }
    long events = 0;
    while (!workload.isDone() && time.step()) {
      if (++events > EVENTS_MAX) {
        workload.fail("still busy after " + events + " events");
      }
    }
    if (workload.failure() == null) {
      heal();
    }
    if (workload.failure() == null) {
      check();
    }
    if (workload.failure() == null) {
      requireNothingHeld();
    }
    if (workload.failure() == null) {
      new Damage(random.split()).strike();
    }
    return new RunResult(
        seed,
        configuration,
        workload.history.size(),
        workload.history.count(Outcome.OK),
        workload.history.count(Outcome.UNKNOWN),
        time.nowNs() - beganNs,
        faults,
        disk.statistics(),
        crashes,
        places,
        workload.failure() == null ? null : story(),
        cleanings + (core == null ? 0 : core.cleanings()),
        doublings + (core == null ? 0 : core.doublings()),
        view.moves(),
        workload.failure());
  }

  /** What everyone did, and what the memory holds now. */
  private String story() {
    StringBuilder text = new StringBuilder(workload.history.text());
    for (int key = 0; key < configuration.keys(); key++) {
      if (workload.history.knows(key)) {
        text.append("memory of key ").append(key).append(":\n");
        try {
          text.append(view.describe(workload.key(key)));
        } catch (IOException | RuntimeException e) {
          text.append("  can't be told: ").append(e).append('\n');
        }
      }
    }
    return text.toString();
  }

  // The end

  private void heal() {
    healing = true;
    disk.crashNever();
    disk.limit(roomBytes);
    for (ClientProcess client : clients) {
      client.device.crashAfterPosts(0);
      client.device.releaseCompletions();
      client.node.recover();
    }
    if (serves()) {
      server.recover();
    }
    long deadline = time.nowNs() + PATIENCE_NS;
    while ((busy() || !serves()) && time.nextNs() <= deadline && workload.failure() == null) {
      time.step();
    }
    if (busy()) {
      workload.fail("operations that never end: " + openOperations());
      return;
    }
    while (!connectedSenders.isEmpty() && time.nextNs() <= deadline) {
      time.step();
    }
    if (!connectedSenders.isEmpty()) {
      workload.fail("a peer that sends garbage keeps its connection");
      return;
    }
    // Those that lived through it, and one that begins afresh.
    List<ClientProcess> readers = new ArrayList<>(clients);
    readers.add(startClient());
    for (ClientProcess reader : readers) {
      for (int key = 0; key < configuration.keys() && workload.failure() == null; key++) {
        reader.mustSucceed = true;
        reader.getAtTheEnd(key);
        long patience = time.nowNs() + PATIENCE_NS;
        while (reader.open > 0 && time.nextNs() <= patience && workload.failure() == null) {
          time.step();
        }
        if (reader.open > 0) {
          workload.fail("the last get of key " + key + " never ends");
        }
      }
    }
  }

  /** When every client has gone and some time has passed nothing is held for them. */
  private void requireNothingHeld() {
    List.copyOf(clients).forEach(ClientProcess::crash);
    long before = core == null ? 0 : core.cleanings();
    time.runFor(IDLE_NS);
    String wrong = core == null ? "no server after the last fault" : core.wrongWhenIdle();
    int regions = configuration.store().geometry().regionsMax();
    if (wrong == null && core.cleanings() - before > IDLE_CLEANINGS_MAX * (long) regions) {
      wrong = core.cleanings() - before + " regions were cleaned while nothing was written";
    }
    if (wrong != null) {
      workload.fail(wrong);
    }
  }

  private boolean serves() {
    return server != null && !server.isDead();
  }

  private boolean busy() {
    return clients.stream().anyMatch(client -> client.open > 0);
  }

  private String openOperations() {
    StringBuilder text = new StringBuilder();
    clients.stream()
        .filter(client -> client.open > 0)
        .forEach(client ->
            text.append("client ")
                .append(client.number)
                .append(": ")
                .append(client.open)
                .append("; "));
    return text.toString();
  }

  private void check() {
    switch (new LinearizabilityChecker().check(workload.history)) {
      case Verdict.Violation violation -> workload.fail(violation.report());
      case Verdict.Undecided undecided -> workload.fail("undecided: " + undecided.reason());
      case Verdict.Linearizable ignored -> {}
    }
  }

  // Faults

  private void crashed(String place, boolean recovering) {
    crashes.merge(new Crash(place, recovering, ProtocolState.of(disk)), 1L, Long::sum);
  }

  private void happened(Fault fault) {
    faults.merge(fault, 1L, Long::sum);
    workload.history.mark(fault.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' '));
  }

  private void nextFault() {
    time.after(
        1 + random.nextLong(2 * configuration.faultGapNs()),
        () -> {
          if (!healing) {
            Fault fault = FAULTS[random.nextInt(FAULTS.length)];
            if (configuration.faults().contains(fault)) {
              fault(fault);
            }
            nextFault();
          }
        });
  }

  private void fault(Fault fault) {
    boolean serves = serves();
    switch (fault) {
      case SERVER_CRASH -> {
        if (serves) {
          crashed(Crash.BETWEEN_STEPS, false);
          serverDied(fault);
        }
      }
      // While it serves or while it starts: as it comes.
      case SERVER_CRASH_IN_STORE, SERVER_CRASH_IN_RECOVERY -> crashSoon();
      case POWER_FAILURE -> {
        if (serves && survivesPower()) {
          powerFailsNext = true;
          crashed(Crash.BETWEEN_STEPS, false);
          serverDied(Fault.SERVER_CRASH);
        }
      }
      case SERVER_PAUSE -> {
        if (serves) {
          happened(fault);
          server.pause(random.nextLong(1L << random.nextInt(10, 27)));
        }
      }
      case CLIENT_CRASH -> crashClient();
      case CLIENT_PAUSE -> {
        if (!clients.isEmpty()) {
          happened(fault);
          anyClient().node.pause(random.nextLong(1L << random.nextInt(10, 29)));
        }
      }
      case CLIENT_CRASH_IN_POST -> {
        if (!clients.isEmpty()) {
          anyClient().device.crashAfterPosts(1 + random.nextInt(1 << random.nextInt(1, 6)));
        }
      }
      case CLIENT_SLOW -> {
        if (!clients.isEmpty()) {
          happened(fault);
          anyClient()
              .node
              .slowDown(1 << random.nextInt(2, 12), random.nextLong(1L << random.nextInt(10, 26)));
        }
      }
      case CLIENT_GARBAGE -> startGarbageSender();
      case COMPLETIONS_DELAYED -> {
        if (!clients.isEmpty()) {
          happened(fault);
          anyClient().device.holdCompletions(random.nextLong(1L << random.nextInt(8, 24)));
        }
      }
      case CONNECTION_LOSS -> {
        if (network.breakConnection(random)) {
          happened(fault);
        }
      }
      case DISK_FULL -> {
        if (serves) {
          disk.limit(0);
          time.after(random.nextLong(1L << random.nextInt(14, 24)), () -> disk.limit(roomBytes));
        }
      }
      case LOG_FULL, TABLE_FULL, BYTE_CORRUPTED, OBJECT_MISPLACED, FILE_CUT -> {
        // The workload sees to the first two, the end to the others.
      }
    }
  }

  private ClientProcess anyClient() {
    return clients.get(random.nextInt(clients.size()));
  }

  /** Anywhere, or where little happens and much can go wrong. */
  private void crashSoon() {
    int further = random.nextBoolean() ? 0 : random.nextInt(24);
    switch (random.nextInt(3) == 0 && growsBesideReaders() ? DOUBLING : crashPlace()) {
      case 0 -> disk.crashAt(new Aim("table-", 64, 112, 1 + random.nextInt(12), further));
      case 1 ->
          disk.crashAt(
              new Aim("table-", 4096, Long.MAX_VALUE, 1 + random.nextInt(16), further / 4));
      case 2, 4 ->
          disk.crashAt(new Aim("regions", 0, Long.MAX_VALUE, 1 + random.nextInt(4), further));
      case 3 -> disk.crashAfter(SimulatedDisk.Event.DRAIN, 1 + random.nextInt(20));
      // The region map has changed, and its epoch not yet; or just so.
      case 5 ->
          disk.crashAt(
              new Aim(
                  "root",
                  Root.EPOCH_OFFSET,
                  Root.STRUCTURE_COUNTER_OFFSET,
                  1 + random.nextInt(3),
                  random.nextInt(2)));
      // A file comes, goes or is renamed.
      case 7 -> disk.crashAfter(SimulatedDisk.Event.DIRECTORY, 1 + random.nextInt(4));
      // A table begins to double, or has doubled.
      case DOUBLING ->
          disk.crashAt(
              new Aim("superblock", 0, Long.MAX_VALUE, 1 + random.nextInt(6), random.nextInt(3)));
      default -> disk.crashAfter(1 + random.nextInt(1 << random.nextInt(1, 9)));
    }
  }

  /** Where keys crowd, entries move; elsewhere an intent is rare. */
  private int crashPlace() {
    return random.nextInt(7) < 4 && configuration.keys() > CROWD ? 0 : random.nextInt(10);
  }

  /** Whether a table may double while who lost its server reads on. */
  private boolean growsBesideReaders() {
    return configuration.doubles()
        && configuration.keys() > CROWD
        && configuration.network().readsOutlivePeer();
  }

  private boolean survivesPower() {
    return configuration.domain().survives() == Survives.POWER_FAILURE;
  }

  // The server

  private void startServer() {
    serverDevice = network.device("server", disk);
    try {
      core =
          store.start(
              overDirectory.apply(watchesWords ? rules.over(disk.directory()) : disk.directory()),
              overServerDevice.apply(serverDevice),
              ADDRESS,
              time,
              random.split());
      if (watchesWords) {
        rules.serves();
      }
    } catch (SimulatedCrash crash) {
      crashed(crash.where(), true);
      serverDied(Fault.SERVER_CRASH_IN_RECOVERY);
      return;
    } catch (IOException | RuntimeException | AssertionError e) {
      workload.fail("the server does not start: " + describe(e));
      return;
    }
    if (roomBytes == Long.MAX_VALUE && configuration.diskRegions() > 0) {
      long regionBytes = configuration.store().geometry().regionBytes();
      roomBytes = disk.usedBytes() + configuration.diskRegions() * regionBytes;
      disk.limit(roomBytes);
    }
    StoreUnderTest.Server starting = core;
    releases.add(starting::release);
    server =
        new Node(
            time,
            random.split(),
            () -> guarded("the server", starting::doWork),
            crash -> {
              crashed(crash.where(), false);
              serverDied(Fault.SERVER_CRASH_IN_STORE);
            },
            serverStepNs,
            configuration.idleNs());
    serverDevice.onActivity(server::wake);
  }

  /** Its process is gone, and sometimes its host's power; another one starts a little later. */
  private void serverDied(Fault how) {
    happened(how);
    if (core != null) {
      cleanings += core.cleanings();
      doublings += core.doublings();
      core = null;
    }
    if (server != null) {
      server.kill();
    }
    boolean power =
        powerFailsNext
            || (how != Fault.SERVER_CRASH
                && survivesPower()
                && configuration.faults().contains(Fault.POWER_FAILURE)
                && random.nextBoolean());
    powerFailsNext = false;
    if (power) {
      happened(Fault.POWER_FAILURE);
      serverDevice.powerFailure();
      disk.powerFailure(random);
      if (configuration.network().readsOutlivePeer()) {
        // Who reads the server's memory after its death sits on its host.
        List.copyOf(clients).forEach(ClientProcess::crash);
      }
    } else {
      serverDevice.crash();
      disk.processCrash();
    }
    if (!healing && random.nextInt(4) == 0 && mayCrashInRecovery()) {
      crashSoon();
    }
    int longest = random.nextInt(8) == 0 ? 25 : 21;
    time.after(
        random.nextLong(1L << random.nextInt(8, longest)),
        () -> {
          workload.history.mark("server starts");
          startServer();
        });
  }

  private boolean mayCrashInRecovery() {
    return configuration.faults().contains(Fault.SERVER_CRASH_IN_RECOVERY);
  }

  private static String describe(Throwable e) {
    StringBuilder text = new StringBuilder(e.toString());
    for (int i = 0; i < Math.min(12, e.getStackTrace().length); i++) {
      text.append("\n    at ").append(e.getStackTrace()[i]);
    }
    return text.toString();
  }

  /** What a step throws that is no crash is a defect. */
  private int guarded(String who, java.util.function.IntSupplier step) {
    try {
      return step.getAsInt();
    } catch (RuntimeException | AssertionError e) {
      workload.fail(who + " failed: " + describe(e));
      return 0;
    }
  }

  // The clients

  private ClientProcess startClient() {
    ClientProcess client = new ClientProcess(nextClient++);
    clients.add(client);
    return client;
  }

  /** One at a time: they must not take the connections of those that have something to say. */
  private void startGarbageSender() {
    if (!connectedSenders.isEmpty() || senders == SENDERS_MAX) {
      return;
    }
    senders++;
    happened(Fault.CLIENT_GARBAGE);
    GarbageSender sender =
        new GarbageSender(
            network.device("sender of garbage " + nextClient++), ADDRESS, random.split());
    connectedSenders.add(sender);
    releases.add(sender::close);
    Node node =
        new Node(
            time,
            random.split(),
            () -> guarded("the sender of garbage", sender::doWork),
            crash -> {},
            configuration.stepNs(),
            configuration.idleNs());
    sender.device.onActivity(node::wake);
    sender.onEnd(() -> {
      node.kill();
      connectedSenders.remove(sender);
    });
  }

  private void crashClient() {
    if (!clients.isEmpty()) {
      happened(Fault.CLIENT_CRASH);
      anyClient().crash();
    }
  }

  private void clientCrashes(String place) {
    crashes.merge(
        new Crash(place, server == null || server.isDead(), ProtocolState.of(disk)), 1L, Long::sum);
  }

  private void wasFull(ErdaException.Full.What what) {
    switch (what) {
      case LOG -> faults.merge(Fault.LOG_FULL, 1L, Long::sum);
      case TABLE -> faults.merge(Fault.TABLE_FULL, 1L, Long::sum);
      case DISK -> faults.merge(Fault.DISK_FULL, 1L, Long::sum);
      case CONNECTIONS -> {
        // As configured.
      }
    }
  }

  /** One client, until it crashes. */
  private final class ClientProcess implements StoreUnderTest.ClientEvents {
    final int number;
    final SimulatedDevice device;
    final Node node;
    private final StoreUnderTest.Client client;
    private final SplittableRandom thoughts = random.split();

    /**
     * Needs no server, and may not notice for long that it is another one. There is one that writes
     * when it starts.
     */
    private final boolean readsOnly =
        random.nextInt(100) < configuration.readersPercent()
            && clients.stream().anyMatch(other -> !other.readsOnly);

    private final long thinkNs = 1L << random.nextInt(1, 17);
    private long thinksUntilNs;
    private int failures;
    int open;

    /** Everything is well: no operation may fail any more. */
    boolean mustSucceed;

    ClientProcess(int number) {
      this.number = number;
      device = network.device("client " + number);
      client = store.connect(device, ADDRESS, time, this);
      releases.add(client::release);
      node =
          new Node(
              time,
              random.split(),
              () -> guarded("client " + number, this::step),
              crash -> {
                happened(Fault.CLIENT_CRASH_IN_POST);
                clientCrashes(crash.where());
                crash();
              },
              configuration.stepNs(),
              configuration.idleNs());
      device.onActivity(node::wake);
    }

    private int step() {
      int work = client.doWork();
      if (!healing
          && open < configuration.pipeline()
          && time.nowNs() >= thinksUntilNs
          && !workload.isDone()) {
        thinksUntilNs = time.nowNs() + thoughts.nextLong(2 * thinkNs);
        time.at(thinksUntilNs, node::wake);
        open++;
        if (!workload.begin(number, client, readsOnly)) {
          open--;
        }
        work++;
      }
      return work;
    }

    void getAtTheEnd(int key) {
      open++;
      if (!workload.get(number, client, key)) {
        workload.fail("an idle client takes no get");
      }
      node.wake();
    }

    void crash() {
      node.kill();
      device.crash();
      clients.remove(this);
      if (!healing) {
        time.after(
            random.nextLong(1L << random.nextInt(8, 22)), SystemSimulation.this::startClient);
      }
    }

    @Override
    public void got(long token, MemorySegment value) {
      open--;
      workload.history.ok((int) token, workload.identify(value));
      failures = 0;
    }

    @Override
    public void done(long token) {
      open--;
      workload.history.ok((int) token, 0);
      failures = 0;
    }

    @Override
    public void deleted(long token, boolean existed) {
      open--;
      workload.history.ok((int) token, existed ? 1 : 0);
      failures = 0;
    }

    @Override
    public void failed(long token, RuntimeException why) {
      open--;
      workload.history.failed((int) token);
      if (mustSucceed) {
        workload.fail("all is well, and client " + number + " was told: " + why);
      }
      if (why instanceof ErdaException.Full full) {
        wasFull(full.what());
      }
      // Who hammers at a server that is not there learns nothing, and costs the most.
      failures = Math.min(failures + 1, FAILURES_MAX);
      thinksUntilNs = time.nowNs() + thoughts.nextLong(FAILURE_PAUSE_NS << failures);
    }

    @Override
    public void unknown(long token, RuntimeException why) {
      open--;
    }

    @Override
    public void broken(long token, RuntimeException why) {
      open--;
      workload.fail("client " + number + " was told: " + why);
    }
  }

  // Damage

  /** The medium changes under a store that was stopped; the next process has to notice. */
  private final class Damage implements StoreUnderTest.ClientEvents {
    private final SplittableRandom random;
    private final List<String> findings = new ArrayList<>();
    private boolean keyNamed;
    private boolean ended;
    private MemorySegment got;
    private RuntimeException refused;

    Damage(SplittableRandom random) {
      this.random = random;
    }

    void strike() {
      disk.onDrain(() -> {});
      Fault kind = random.nextInt(4) == 0 ? Fault.FILE_CUT : Fault.BYTE_CORRUPTED;
      if (!configuration.faults().contains(kind) || random.nextInt(4) != 0) {
        return;
      }
      server.kill();
      serverDevice.crash();
      disk.processCrash();
      int key = random.nextInt(configuration.keys());
      try {
        StoreView.Place place = random.nextInt(3) > 0 ? view.committed(workload.key(key)) : null;
        if (kind == Fault.FILE_CUT) {
          cut();
          inspect(-1);
        } else if (place != null && random.nextBoolean() && misplace(key, place)) {
          inspect(key);
        } else if (place != null) {
          disk.corrupt(place.file(), place.offset() + random.nextInt(place.bytes()), bits());
          happened(kind);
          inspect(key);
        } else {
          corruptAnything();
          inspect(-1);
        }
      } catch (IOException e) {
        workload.fail(describe(e));
      }
    }

    private int bits() {
      return random.nextBoolean() ? 1 << random.nextInt(8) : 1 + random.nextInt(255);
    }

    private String anyFile() {
      List<String> names = disk.names();
      return names.get(random.nextInt(names.size()));
    }

    private void cut() throws IOException {
      String name = anyFile();
      happened(Fault.FILE_CUT);
      disk.setLength(name, random.nextLong(disk.length(name)));
    }

    /** Where a key has an older version that fits: the medium puts it where the newest one lies. */
    private boolean misplace(int key, StoreView.Place place) throws IOException {
      StoreView.Place older = view.older(workload.key(key));
      if (!configuration.faults().contains(Fault.OBJECT_MISPLACED)
          || older == null
          || older.equals(place)
          || place.offset() + older.bytes() > disk.length(place.file())) {
        return false;
      }
      happened(Fault.OBJECT_MISPLACED);
      byte[] bytes =
          disk.image(older.file())
              .asSlice(older.offset(), older.bytes())
              .toArray(ValueLayout.JAVA_BYTE);
      for (int i = 0; i < bytes.length; i++) {
        int there = disk.image(place.file()).get(ValueLayout.JAVA_BYTE, place.offset() + i);
        disk.corrupt(place.file(), place.offset() + i, there ^ bytes[i]);
      }
      return true;
    }

    private void corruptAnything() throws IOException {
      String name = anyFile();
      happened(Fault.BYTE_CORRUPTED);
      long length = disk.length(name);
      disk.corrupt(
          name, random.nextLong(random.nextBoolean() ? Math.min(length, 8192) : length), bits());
    }

    /**
     * @param damaged the key whose committed object was hit, or -1
     */
    private void inspect(int damaged) throws IOException {
      serverDevice = network.device("server", disk);
      try {
        core =
            store.startDamaged(
                overDirectory.apply(disk.directory()),
                overServerDevice.apply(serverDevice),
                ADDRESS,
                time,
                random.split(),
                (key, what) -> {
                  findings.add(what);
                  keyNamed |=
                      damaged >= 0
                          && key != null
                          && workload.key(damaged).mismatch(MemorySegment.ofArray(key)) < 0;
                });
      } catch (ErdaException e) {
        // It says what is wrong and refuses to serve.
        return;
      } catch (RuntimeException | AssertionError e) {
        workload.fail("a damaged store is not refused in order: " + describe(e));
        return;
      }
      if (damaged >= 0 && findings.isEmpty()) {
        workload.fail("verify does not find the damage of key " + damaged);
      } else if (damaged >= 0 && !keyNamed) {
        workload.fail("verify finds " + findings + " and does not name key " + damaged);
      } else {
        getAll(damaged);
      }
    }

    private void getAll(int damaged) {
      StoreUnderTest.Client client =
          store.connect(network.device("client of a damaged store"), ADDRESS, time, this);
      releases.add(core::release);
      releases.add(client::release);
      for (int key = 0; key < configuration.keys() && workload.failure() == null; key++) {
        get(client, key);
        if (got != null) {
          workload.identify(got);
        }
        if (key == damaged && refused == null) {
          workload.fail(
              "the damaged object of key "
                  + key
                  + " was taken for "
                  + (got == null ? "absent" : "a value of " + got.byteSize() + " bytes"));
        }
      }
    }

    private void get(StoreUnderTest.Client client, int key) {
      ended = false;
      got = null;
      refused = null;
      if (!client.get(key, workload.key(key))) {
        workload.fail("an idle client takes no get");
        return;
      }
      long deadline = time.nowNs() + PATIENCE_NS;
      while (!ended && time.nowNs() < deadline) {
        try {
          core.doWork();
          client.doWork();
        } catch (RuntimeException | AssertionError e) {
          workload.fail("with a damaged store: " + describe(e));
          return;
        }
        time.runFor(DAMAGED_STEP_NS);
      }
      if (!ended) {
        workload.fail("a get of a damaged store never ends: key " + key);
      }
    }

    @Override
    public void got(long token, MemorySegment value) {
      ended = true;
      got = value == null ? null : MemorySegment.ofArray(value.toArray(ValueLayout.JAVA_BYTE));
    }

    @Override
    public void done(long token) {
      ended = true;
    }

    @Override
    public void deleted(long token, boolean existed) {
      ended = true;
    }

    @Override
    public void failed(long token, RuntimeException why) {
      ended = true;
      refused = why;
    }

    @Override
    public void unknown(long token, RuntimeException why) {
      failed(token, why);
    }

    @Override
    public void broken(long token, RuntimeException why) {
      failed(token, why);
    }
  }
}
