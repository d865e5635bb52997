package io.erda.simulation.system;

import io.erda.simulation.SimulatedDisk;
import io.erda.simulation.SimulatedNetwork;
import io.erda.simulation.VirtualTime;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.IntSupplier;

/**
 * The state that all parts of one run share: randomness, time, the network, the host's disk, the
 * clients' operations and results, and counts of what happened.
 */
final class World {
  /** The server's address. */
  static final String ADDRESS = "store";

  /**
   * The longest time for each operation to end after the faults have ended. Much longer than the
   * time-outs of the clients.
   */
  static final long PATIENCE_NS = 3_000_000_000L;

  /**
   * The most processes of one run. A dead process holds some 50 KiB until the run is over, because
   * its stores must be refused: a run that starts processes endlessly, for example a shrunk one,
   * would take all memory long before it has too many events. The largest of some hundred runs had
   * 300.
   */
  static final int PROCESSES_MAX = 5000;

  private static final long ITERATIONS = 0x17E_2A7_10_45L;

  private static final long READERS = 0x4EAD_0F_F11E5L;

  private static final long DRAINS = 0xD2A_145_FA11L;

  private static final long REMOVALS = 0x4E_30_7A_15L;

  private static final long CAPACITIES = 0xCA_9AC1_71E5L;

  private static final long DOORS = 0xD0025_0F_E2DAL;

  final SplittableRandom random;
  final Configuration configuration;
  final StoreUnderTest store;
  final VirtualTime time;
  final SimulatedNetwork network;
  final SimulatedDisk disk;
  final StoreView view;
  final VersionWordRules rules;
  final Workload workload;

  /** Randomness of its own for faults of connecting. */
  final SplittableRandom doors;

  /** Randomness of its own for failures of the device. */
  final SplittableRandom drains;

  /** Randomness of its own for files that can't be removed. */
  final SplittableRandom removals;

  /** Randomness of its own for the log's capacity. */
  final SplittableRandom capacities;

  /** Randomness of its own for the times of iterations. */
  final SplittableRandom iterations;

  /** Randomness of its own for clients that only read the files. */
  final SplittableRandom readers;

  final Map<Fault, Long> faults = new EnumMap<>(Fault.class);
  final Map<Crash, Long> crashes = new TreeMap<>();

  /** Whether faults have ended. */
  boolean healing;

  /** Releases the resources of each process that ever was. */
  private final List<Runnable> releases = new ArrayList<>();

  World(long seed, Configuration configuration, StoreUnderTest store) {
    this.random = new SplittableRandom(seed);
    this.configuration = configuration;
    this.store = store;
    this.doors = new SplittableRandom(seed ^ DOORS);
    this.drains = new SplittableRandom(seed ^ DRAINS);
    this.removals = new SplittableRandom(seed ^ REMOVALS);
    this.capacities = new SplittableRandom(seed ^ CAPACITIES);
    this.readers = new SplittableRandom(seed ^ READERS);
    this.iterations = new SplittableRandom(seed ^ ITERATIONS);
    time = new VirtualTime(random.split());
    network = new SimulatedNetwork(time, random.split(), configuration.network());
    disk = new SimulatedDisk(configuration.domain(), random.split());
    view = new StoreView(disk, configuration.store().geometry());
    rules = new VersionWordRules(disk, configuration.store());
    store.pausesBy(this::pause);
    if (configuration.clientsCommit()) {
      network.lendMemory();
    }
    workload = new Workload(configuration, random.split(), view::hashSeed);
  }

  boolean mayHappen(Fault fault) {
    return configuration.faults().contains(fault);
  }

  void fail(String what) {
    workload.fail(what);
  }

  boolean failed() {
    return workload.failure() != null;
  }

  /** Lets time pass within a step of the server's process. */
  private void pause(long ns) {
    disk.during(() -> time.runFor(ns));
  }

  /** Notes that a fault happened now: counts it, and marks the time in the history. */
  void happened(Fault fault) {
    counted(fault);
    workload.history.mark(fault.name().toLowerCase(Locale.ROOT).replace('_', ' '));
  }

  /** Counts a fault whose time does not matter. */
  void counted(Fault fault) {
    faults.merge(fault, 1L, Long::sum);
  }

  /** Notes that a process crashed. */
  void crashed(String place, boolean recovering) {
    crashes.merge(new Crash(place, recovering, ProtocolState.of(disk)), 1L, Long::sum);
  }

  /** Runs a step. An exception other than a crash is a defect. */
  int guarded(String who, IntSupplier step) {
    try {
      return step.getAsInt();
    } catch (RuntimeException | AssertionError e) {
      fail(who + " failed: " + describe(e));
      return 0;
    }
  }

  static String describe(Throwable e) {
    StringBuilder text = new StringBuilder(e.toString());
    for (int i = 0; i < Math.min(12, e.getStackTrace().length); i++) {
      text.append("\n    at ").append(e.getStackTrace()[i]);
    }
    return text.toString();
  }

  /**
   * Adds a task that releases a process's resources when the run is over, whether it is dead or
   * alive.
   */
  void onEnd(Runnable release) {
    releases.add(release);
    if (releases.size() == PROCESSES_MAX) {
      fail("still busy after " + PROCESSES_MAX + " processes");
    }
  }

  /** Ends the run: every process releases its real memory. */
  void end() {
    disk.onDrain(() -> {});
    disk.bury();
    for (Runnable release : releases) {
      release(release);
    }
  }

  /**
   * Releases a process, which may be unable to be closed because it died in the middle of a step.
   */
  private static void release(Runnable release) {
    try {
      release.run();
    } catch (RuntimeException | AssertionError ignored) {
      // Its memory is lost until the garbage collector finds it, if ever.
    }
  }
}
