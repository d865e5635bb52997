package io.erda.simulation.system;

import io.erda.pmem.MemoryDirectory;
import io.erda.rdma.Device;
import io.erda.simulation.history.Ending;
import io.erda.simulation.history.LinearizabilityChecker;
import io.erda.simulation.history.Verdict;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/**
 * One server host and some clients, from a seed to a verdict.
 *
 * <p>The server crashes and starts again, its host loses power, clients die and are replaced,
 * connections are lost, processes stop for a while; then faults end, everything heals, every
 * operation must end, a new client gets every key, and the history must be linearizable. The power
 * only fails if the store promises to survive that, so acknowledged puts must be there.
 */
public final class SystemSimulation {
  /**
   * Each region may be cleaned at most this often while nothing is written: then cleaning must
   * stop.
   */
  private static final int IDLE_CLEANINGS_MAX = 100;

  private static final long EVENTS_MAX = 200_000_000L;

  /** After this many events the files are copied, to be put back at the end. */
  private static final long KEPT_AT = 1000;

  /** In one of so many runs every place that stores is recorded, even without a crash. */
  private static final long WATCHED_ODDS = 64;

  /**
   * The longest time until a put that is to be decided is decided, and all of a client whose
   * connection has ended: much shorter than the time after which the server gives up a client that
   * does not write.
   */
  private static final long DECIDED_NS = 20_000_000L;

  /**
   * The same when a client died, perhaps in the middle of a store that lands late: the server gives
   * it up after a second.
   */
  private static final long GIVEN_UP_NS = 1_100_000_000L;

  /** The longest time for which idle reservations are kept, and of time-outs. */
  private static final long IDLE_NS = 1_000_000_000L;

  /** The place that a client comes to when it has committed: {@code CommitLine}. */
  private static final int COMMITTED = 4;

  private static final int DRAIN_ODDS = 3;
  private static final int DRAIN_NS_LOG2_MIN = 4;

  private final long seed;
  private final Configuration configuration;
  private final World world;
  private final ServerHost host;
  private final ClientProcesses clients;
  private final Set<String> places = new TreeSet<>();
  private final long beganNs;
  private boolean waiting;

  /** The production code under the configuration of a seed. */
  public static SystemSimulation of(long seed) {
    return of(seed, Configuration.ofSeed(seed));
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
   * @param overDirectory wraps the directory of each life of the server: lets tests inject defects
   * @param overServerDevice wraps the device of each life of the server
   */
  public SystemSimulation(
      long seed,
      Configuration configuration,
      StoreUnderTest store,
      UnaryOperator<MemoryDirectory> overDirectory,
      UnaryOperator<Device> overServerDevice) {
    this.seed = seed;
    this.configuration = configuration;
    world = new World(seed, configuration, store);
    if (Long.remainderUnsigned(seed, WATCHED_ODDS) == 0) {
      world.disk.onEvent(places::add);
    }
    world.disk.onDrain(this::meanwhile);
    if (world.mayHappen(Fault.STORE_OF_THE_LEFT)) {
      world.network.storesUntilFenced();
    }
    beganNs = world.time.nowNs();
    host = new ServerHost(world, overDirectory, overServerDevice);
    clients = new ClientProcesses(world, host::serves);
    host.clients(clients);
  }

  /**
   * Called while the server is between two loads of memory that others store into: sometimes others
   * go on then. Only in a step of the server, by calls woven into its code.
   */
  public void serverLooks() {
    world.disk.looks();
  }

  /** Sometimes lets others go on while the server waits for a drain, or between two loads. */
  private void meanwhile() {
    SplittableRandom random = world.random;
    if (waiting || random.nextInt(DRAIN_ODDS) != 0) {
      return;
    }
    waiting = true;
    try {
      int longest = 64 - Long.numberOfLeadingZeros(configuration.drainNsMax());
      world.time.runFor(random.nextLong(1L << random.nextInt(DRAIN_NS_LOG2_MIN, longest)));
    } finally {
      waiting = false;
    }
  }

  /**
   * Turns off the checks of version words, to see which defects the other checks find. Call before
   * {@link #run}.
   */
  public SystemSimulation withoutWordRules() {
    host.ignoreWords();
    return this;
  }

  /** Runs it to its end. */
  public RunResult run() {
    try {
      return runToItsEnd();
    } finally {
      world.end();
    }
  }

  private RunResult runToItsEnd() {
    host.startFirst();
    for (int i = 0; i < configuration.clients(); i++) {
      clients.start();
    }
    if (configuration.faultGapNs() > 0) {
      new FaultInjector(world, host, clients).nextFault();
    }
    MediumDamage damage = new MediumDamage(world, host);
    long events = 0;
    while (!world.workload.isDone() && world.time.step()) {
      if (++events == KEPT_AT) {
        damage.keep();
      }
      if (events > EVENTS_MAX) {
        world.fail("still busy after " + events + " events");
      }
    }
    if (!world.failed()) {
      heal();
    }
    if (!world.failed()) {
      check();
    }
    if (!world.failed()) {
      requireDecided();
    }
    if (!world.failed()) {
      requireNothingHeld();
    }
    if (!world.failed()) {
      damage.strike();
    }
    if (world.network.unfencedStores() > 0) {
      world.faults.put(Fault.STORE_OF_THE_LEFT, world.network.unfencedStores());
    }
    return new RunResultBuilder()
        .seed(seed)
        .configuration(configuration)
        .operations(world.workload.history.size())
        .ok(world.workload.history.count(Ending.OK))
        .unknown(world.workload.history.count(Ending.UNKNOWN))
        .simulatedNs(world.time.nowNs() - beganNs)
        .faults(world.faults)
        .stores(world.disk.statistics())
        .crashes(world.crashes)
        .places(places)
        .history(world.failed() ? story() : null)
        .cleanings(host.cleanings())
        .doublings(host.doublings())
        .halvings(host.halvings(), host.halvingsTurned())
        .commitsInside(host.commitsInside())
        .commitsOutside(world.network.timesReached(COMMITTED), host.commitsDefeated())
        .moves(world.view.moves())
        .failure(world.workload.failure())
        .build();
  }

  /** The history, and the current content of the memory. */
  private String story() {
    StringBuilder text = new StringBuilder(world.workload.history.text());
    for (int key = 0; key < configuration.keys(); key++) {
      if (world.workload.history.knows(key)) {
        text.append("memory of key ").append(key).append(":\n");
        try {
          text.append(world.view.describe(world.workload.key(key)));
        } catch (IOException | RuntimeException e) {
          text.append("  can't be told: ").append(e).append('\n');
        }
      }
    }
    return text.toString();
  }

  // The end.

  private void heal() {
    world.healing = true;
    host.heal();
    clients.living().forEach(ClientProcess::recover);
    host.recover();
    long deadline = world.time.nowNs() + World.PATIENCE_NS;
    while ((clients.busy() || !host.serves())
        && world.time.nextNs() <= deadline
        && !world.failed()) {
      world.time.step();
    }
    if (clients.busy()) {
      world.fail("operations that never end: " + clients.openOperations());
      return;
    }
    while (clients.garbageConnected() && world.time.nextNs() <= deadline) {
      world.time.step();
    }
    if (clients.garbageConnected()) {
      world.fail("a peer that sends garbage keeps its connection");
      return;
    }
    // The clients that lived through the faults, and a new one.
    List<ClientProcess> readers = new ArrayList<>(clients.living());
    readers.add(clients.start());
    for (ClientProcess reader : readers) {
      for (int key = 0; key < configuration.keys() && !world.failed(); key++) {
        reader.mustSucceed = true;
        reader.getAtTheEnd(key);
        long patience = world.time.nowNs() + World.PATIENCE_NS;
        while (reader.open > 0 && world.time.nextNs() <= patience && !world.failed()) {
          world.time.step();
        }
        if (reader.open > 0) {
          world.fail("the last get of key " + key + " never ends");
        }
      }
      iterateAtTheEnd(reader);
    }
  }

  /** Checks that a last iteration finds the same values as the last gets. */
  private void iterateAtTheEnd(ClientProcess reader) {
    if (world.failed() || !world.store.iterates()) {
      return;
    }
    reader.iterateAtTheEnd();
    long patience = world.time.nowNs() + World.PATIENCE_NS;
    world.time.step();
    while (reader.isBusy() && world.time.nextNs() <= patience && !world.failed()) {
      world.time.step();
    }
    if (reader.isBusy() && !world.failed()) {
      world.fail("the last iteration never ends");
    }
  }

  /** Requires that all puts are decided soon when no client is active. */
  private void requireDecided() {
    if (configuration.announces()) {
      boolean died =
          world.faults.containsKey(Fault.CLIENT_CRASH)
              || world.faults.containsKey(Fault.CLIENT_CRASH_IN_POST);
      world.time.runFor(DECIDED_NS);
      if (died && host.core() != null && host.core().undecided() > 0) {
        world.time.runFor(GIVEN_UP_NS);
      }
      requireNone(host.core() == null ? 0 : host.core().undecided());
    }
  }

  private void requireNone(long undecided) {
    if (undecided > 0) {
      world.fail(undecided + " puts are announced and not decided, and nobody is at work");
    }
  }

  /** Requires that nothing is held for clients some time after all have gone. */
  private void requireNothingHeld() {
    clients.crashAll();
    StoreUnderTest.Server core = host.core();
    long before = core == null ? 0 : core.cleanings();
    world.time.runFor(IDLE_NS);
    core = host.core();
    String wrong = core == null ? "no server after the last fault" : core.wrongWhenIdle();
    int regions = Math.max(configuration.store().geometry().regionsMax(), world.store.regionsMax());
    if (wrong == null && core.cleanings() - before > IDLE_CLEANINGS_MAX * (long) regions) {
      wrong = core.cleanings() - before + " regions were cleaned while nothing was written";
    }
    if (wrong != null) {
      world.fail(wrong);
    } else {
      requireNone(core.undecided());
    }
  }

  private void check() {
    switch (new LinearizabilityChecker().check(world.workload.history)) {
      case Verdict.Violation violation -> world.fail(violation.report());
      case Verdict.Undecided undecided -> world.fail("undecided: " + undecided.reason());
      case Verdict.Linearizable ignored -> {}
    }
  }
}
