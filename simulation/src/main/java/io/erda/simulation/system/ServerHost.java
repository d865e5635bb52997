package io.erda.simulation.system;

import io.erda.pmem.MemoryDirectory;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Root;
import io.erda.rdma.Device;
import io.erda.server.engine.files.StoreFiles;
import io.erda.simulation.SimulatedCrash;
import io.erda.simulation.SimulatedDevice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/** The host of the store: its server's processes, one after the other, and its power. */
final class ServerHost {
  /** In one of so many runs the store's creation is interrupted. */
  private static final int FIRST_START_ODDS = 8;

  private static final int SERVER_SLOWNESS_LOG2_MAX = 7;

  private static final int REMOVALS_FAIL_ODDS = 4;

  /** How much likelier an embedded opening is when a client of a dead server is within a store. */
  private static final int EMBEDDED_LIKELIER = 2;

  private static final int INSPECTION_ODDS = 8;

  /** One opening in so many is of a container with a number of its own for the host's boot. */
  private static final int RENUMBERED_ODDS = 3;

  private static final int STOP_UNDRAINED_ODDS = 2;

  /** The address of the embedded server, which only clients in its process know. */
  private static final String EMBEDDED = "embedded";

  private final World world;
  private final UnaryOperator<MemoryDirectory> overDirectory;
  private final UnaryOperator<Device> overDevice;
  private final CrashAim aim;
  private final long stepNs;
  private ClientProcesses clients;

  private SimulatedDevice device;
  private StoreUnderTest.Server core;
  private Node node;

  /** Cleanings and doublings done by servers that have died. */
  private long cleanings;

  private long doublings;
  private long halvings;
  private long halvingsTurned;
  private long commitsInside;
  private long commitsDefeated;

  /** The room that the disk has once there is a store. */
  private long roomBytes = Long.MAX_VALUE;

  /** Whether the living process is an embedded store. */
  private boolean embedded;

  private final Promises promises;
  private final Capacities capacities;
  private boolean stopping;

  /** Whether the files of the living process failed. */
  private boolean failed;

  private boolean powerFailsNext;
  private boolean watchesWords = true;

  /**
   * @param overDirectory wraps the directory of each life of the server: lets tests inject defects
   * @param overDevice wraps the device of each life of the server
   */
  ServerHost(
      World world, UnaryOperator<MemoryDirectory> overDirectory, UnaryOperator<Device> overDevice) {
    this.world = world;
    this.overDirectory = overDirectory;
    this.overDevice = overDevice;
    aim = new CrashAim(world);
    promises = new Promises(world);
    capacities = new Capacities(world);
    // A slow server has more to do in one step: larger batches.
    stepNs = world.configuration.stepNs() << world.random.nextInt(SERVER_SLOWNESS_LOG2_MAX);
  }

  /** Sets the clients that die with the host's power, or with the server's process. */
  void clients(ClientProcesses all) {
    clients = all;
  }

  /** Turns off the checks of version words. */
  void ignoreWords() {
    watchesWords = false;
  }

  /** Whether there is a process that has the store open. */
  boolean lives() {
    return node != null && !node.isDead();
  }

  /** Whether there is a process that clients can reach, and that was not told to stop. */
  boolean serves() {
    return lives() && !embedded && !stopping;
  }

  /** The device of the current process, or the last one. */
  SimulatedDevice device() {
    return device;
  }

  /** The current server, or null. */
  StoreUnderTest.Server core() {
    return core;
  }

  /** Number of regions that all servers so far have cleaned. */
  long cleanings() {
    return cleanings + (core == null ? 0 : core.cleanings());
  }

  /** Number of times that all servers so far have halved the table. */
  long halvings() {
    return halvings + (core == null ? 0 : core.halvings());
  }

  /** Number of halvings that turned around in all servers so far. */
  long halvingsTurned() {
    return halvingsTurned + (core == null ? 0 : core.halvingsTurned());
  }

  /** Number of times that all servers so far have doubled the table. */
  long doublings() {
    return doublings + (core == null ? 0 : core.doublings());
  }

  /**
   * Number of puts and deletes that clients have committed in the processes of all servers so far.
   */
  long commitsInside() {
    return commitsInside + (core == null ? 0 : core.commitsInside());
  }

  /** Number of commits of stopped clients that all servers so far have ended. */
  long commitsDefeated() {
    return commitsDefeated + (core == null ? 0 : core.commitsDefeated());
  }

  boolean survivesPower() {
    return promises.kept();
  }

  /** Starts the first process, which is interrupted now and then. */
  void startFirst() {
    if (world.random.nextInt(FIRST_START_ODDS) == 0 && mayCrashInRecovery()) {
      world.disk.crashAfter(1 + world.random.nextInt(1 << world.random.nextInt(3, 8)));
    }
    start();
  }

  /** Starts a process that serves. */
  private void start() {
    stopping = false;
    device = world.network.device("server", world.disk);
    embedded = isEmbeddedNext();
    SimulatedDevice takenOver = device;
    if (embedded) {
      device.embedded();
      takenOver = world.network.device("held", world.disk);
    }
    takenOver.fence();
    if (world.configuration.clientsCommit() && world.doors.nextInt(RENUMBERED_ODDS) == 0) {
      world.disk.renumberBoot();
    }
    try {
      inspectNowAndThen();
      world.store.wanted(promises.next());
      world.store.wantedRegions(capacities.next());
      core =
          world.store.start(
              directory(),
              overDevice.apply(device),
              embedded ? EMBEDDED : World.ADDRESS,
              embedded ? List.of(takenOver) : List.of(),
              world.time,
              world.random.split());
      promises.opened(world.store.promise());
      capacities.opened();
      if (watchesWords) {
        world.rules.serves();
      }
    } catch (SimulatedCrash crash) {
      world.crashed(crash.where(), true);
      died(Fault.SERVER_CRASH_IN_RECOVERY);
      return;
    } catch (ErdaException.Full e) {
      if (!capacities.isAsked()) {
        world.fail("the server does not start: " + World.describe(e));
        return;
      }
      // There is no room for more regions. The opening fails, and the next opening requests fewer.
      gone();
      startLater();
      return;
    } catch (IOException | RuntimeException | AssertionError e) {
      world.fail("the server does not start: " + World.describe(e));
      return;
    }
    if (roomBytes == Long.MAX_VALUE && world.configuration.diskRegions() > 0) {
      long regionBytes = world.configuration.store().geometry().regionBytes();
      roomBytes = world.disk.usedBytes() + world.configuration.diskRegions() * regionBytes;
      world.disk.limit(roomBytes);
    }
    failDrainNowAndThen();
    failRemovalsNowAndThen();
    StoreUnderTest.Server starting = core;
    world.onEnd(starting::release);
    node =
        new Node(
            world.time,
            world.random.split(),
            null,
            () -> world.guarded("the server", () -> step(starting)),
            this::crashedInStore,
            stepNs,
            world.configuration.idleNs());
    device.onActivity(node::wake);
    if (embedded) {
      world.happened(Fault.EMBEDDED_OPENING);
      Node living = node;
      clients.startInside(
          EMBEDDED,
          world.doors.nextInt(1, 4),
          crash -> {
            if (living == node && lives()) {
              crashedInStore(crash);
            }
          });
      world.time.after(
          world.doors.nextLong(1L << world.doors.nextInt(16, 28)),
          () -> {
            if (living == node) {
              stop();
            }
          });
    }
  }

  /**
   * Sometimes inspects a copy of the store before an opening; like a private mapping, the copy
   * protects the files from changes.
   */
  private void inspectNowAndThen() throws IOException {
    if (!world.mayHappen(Fault.INSPECTION)
        || world.disk.image(StoreFiles.SUPERBLOCK) == null
        || world.doors.nextInt(INSPECTION_ODDS) != 0) {
      return;
    }
    world.happened(Fault.INSPECTION);
    inspectCopy((key, what) -> world.fail("an inspection finds, before the next opening: " + what));
  }

  /**
   * Inspects a copy of the store.
   *
   * @param findings receives what is found: the key, or null, and what is wrong
   */
  void inspectCopy(BiConsumer<byte[], String> findings) throws IOException {
    try (DiskCopy copy = new DiskCopy(world.disk)) {
      world.store.inspect(copy, world.doors.split(), findings);
    }
  }

  /**
   * Whether the next opening is an embedded store's; after the faults have ended it serves all
   * clients.
   */
  private boolean isEmbeddedNext() {
    return world.mayHappen(Fault.EMBEDDED_OPENING)
        && !world.healing
        && world.doors.nextInt(embeddedOdds()) == 0;
  }

  private int embeddedOdds() {
    int odds = world.configuration.embeddedOdds();
    return device.strangers() > 0 ? Math.max(1, odds / EMBEDDED_LIKELIER) : odds;
  }

  private void crashedInStore(SimulatedCrash crash) {
    world.crashed(crash.where(), false);
    died(Fault.SERVER_CRASH_IN_STORE);
  }

  private int step(StoreUnderTest.Server living) {
    if (!stopping) {
      int work = living.doWork();
      if (!failed && living.isReadOnly()) {
        failed = true;
        world.happened(Fault.DRAIN_FAILED);
        requireReadsToGoOn();
        endFailed(world.drains.nextLong(1L << world.drains.nextInt(10, 23)));
      }
      return work;
    }
    if (!living.mayStop()) {
      return 1;
    }
    try {
      living.stop();
    } catch (UncheckedIOException e) {
      if (!world.disk.hasDrainFailed()) {
        throw e;
      }
    }
    died(Fault.SERVER_STOP);
    return 0;
  }

  /** Requires that a move or judgement that a failure interrupted does not block readers. */
  private void requireReadsToGoOn() {
    MemorySegment root = world.disk.image(StoreFiles.ROOT);
    if (root != null && (Root.structureCounter(root, 0) & 1) != 0) {
      world.fail("files failed, and no reader can say any more that a key is not there");
    }
  }

  /** Sometimes makes the device fail at a drain of the current server. */
  private void failDrainNowAndThen() {
    failed = false;
    if (world.mayHappen(Fault.DRAIN_FAILED)
        && !world.healing
        && survivesPower()
        && world.disk.domain().visibleBeforeDurable()
        && world.drains.nextInt(world.configuration.drainFailedOdds()) == 0) {
      aim.drainFails();
    }
  }

  /** Sometimes makes the removal of unneeded files fail, until the store is open the next time. */
  private void failRemovalsNowAndThen() {
    boolean fail =
        world.mayHappen(Fault.REMOVAL_FAILED)
            && !world.healing
            && world.removals.nextInt(REMOVALS_FAIL_ODDS) == 0;
    world.disk.failRemovals(name -> {
      boolean fails = fail && isSpare(name) && world.removals.nextBoolean();
      if (fails) {
        world.happened(Fault.REMOVAL_FAILED);
      }
      return fails;
    });
  }

  /** Whether a file of this name does no harm when its removal fails. */
  private static boolean isSpare(String name) {
    return name.startsWith("spare-")
        || name.startsWith("left-")
        || name.startsWith(StoreFiles.TABLE_PREFIX);
  }

  /** Ends the process whose store failed, or its host. */
  private void endFailed(long afterNs) {
    Node living = node;
    world.time.after(
        afterNs,
        () -> {
          if (living == node && lives()) {
            powerFailsNext |= world.drains.nextBoolean() && world.mayHappen(Fault.POWER_FAILURE);
            crash();
          }
        });
  }

  /** Tells the process to stop. */
  void stop() {
    if (lives()) {
      stopping = true;
      node.wake();
    }
  }

  /**
   * Tells the process to stop while its root has words that are not durable, and then the power
   * fails: words that the record of the stop covers must not be lost.
   */
  void stopUndrainedThenLosePower() {
    if (lives()
        && survivesPower()
        && world.mayHappen(Fault.SERVER_STOP)
        && world.mayHappen(Fault.POWER_FAILURE)
        && world.disk.image(StoreFiles.ROOT) != null
        && !world.disk.settled(StoreFiles.ROOT, 0, world.disk.image(StoreFiles.ROOT).byteSize())
        && world.doors.nextInt(STOP_UNDRAINED_ODDS) == 0) {
      powerFailsNext = true;
      stop();
    }
  }

  private MemoryDirectory directory() {
    // Where clients have fibers, those who run while a client waits do so on its thread.
    MemoryDirectory directory =
        world.configuration.clientsCommit() ? world.disk.sharedDirectory() : world.disk.directory();
    return overDirectory.apply(watchesWords ? world.rules.over(directory) : directory);
  }

  /** Ends the process between two steps, for a fault. */
  void crash() {
    if (lives()) {
      world.crashed(Crash.BETWEEN_STEPS, false);
      died(Fault.SERVER_CRASH);
    }
  }

  /** Makes the process end inside one of its next events. */
  void crashSoon() {
    aim.soon();
  }

  void loseWithPower() {
    if (lives() && survivesPower()) {
      powerFailsNext = true;
      crash();
    }
  }

  void pause(long ns) {
    node.pause(ns);
  }

  /** Makes the disk take no new file for a while. */
  void fillDisk(long ns) {
    world.disk.limit(0);
    world.time.after(ns, () -> world.disk.limit(roomBytes));
  }

  /** Ends the faults. */
  void heal() {
    world.disk.crashNever();
    world.disk.failDrain(0);
    world.disk.failRemovals(name -> false);
    world.disk.limit(roomBytes);
    if (failed) {
      crash();
    }
  }

  void recover() {
    if (lives()) {
      node.recover();
    }
    if (embedded) {
      stop();
    }
  }

  /** Ends the serving process without a successor. */
  void endForDamage() {
    node.kill();
    device.crash();
    world.disk.processCrash();
  }

  /** Stops the serving process in order, without a successor. */
  void stopForDamage() {
    node.kill();
    world.happened(Fault.SERVER_STOP);
    world.guarded(
        "the server",
        () -> {
          core.stop();
          return 0;
        });
    device.crash();
    world.disk.processCrash();
  }

  /**
   * Starts a process that opens the damaged store; the caller steps it.
   *
   * @param findings receives what an inspection finds: the key, or null, and what is wrong
   */
  StoreUnderTest.Server startDamaged(RandomGenerator random, BiConsumer<byte[], String> findings)
      throws IOException {
    device = world.network.device("server", world.disk);
    world.store.wantedRegions(0);
    core =
        world.store.startDamaged(
            overDirectory.apply(world.disk.directory()),
            overDevice.apply(device),
            World.ADDRESS,
            world.time,
            random,
            findings);
    world.onEnd(core::release);
    return core;
  }

  /**
   * Handles the end of the process, sometimes together with its host's power; another one starts a
   * little later.
   */
  private void died(Fault how) {
    SplittableRandom random = world.random;
    world.happened(how);
    if (core != null) {
      cleanings += core.cleanings();
      doublings += core.doublings();
      halvings += core.halvings();
      halvingsTurned += core.halvingsTurned();
      commitsInside += core.commitsInside();
      commitsDefeated += core.commitsDefeated();
      core = null;
    }
    if (node != null) {
      node.kill();
    }
    boolean power =
        powerFailsNext
            || (how != Fault.SERVER_CRASH
                && survivesPower()
                && world.configuration.faults().contains(Fault.POWER_FAILURE)
                && random.nextBoolean());
    powerFailsNext = false;
    clients.endInside();
    if (power) {
      losePower();
    } else {
      gone();
    }
    if (!world.healing && random.nextInt(4) == 0 && mayCrashInRecovery()) {
      crashSoon();
    }
    startLater();
  }

  /** Handles that the process is gone, which may have left its store in any state. */
  private void gone() {
    device.crash();
    world.disk.processCrash();
    clients.leftBehind();
  }

  private void startLater() {
    SplittableRandom random = world.random;
    int longest = random.nextInt(8) == 0 ? 25 : 21;
    world.time.after(
        random.nextLong(1L << random.nextInt(8, longest)),
        () -> {
          world.workload.history.mark("server starts");
          start();
        });
  }

  /** Fails the host's power, with or without a process on it. */
  void losePower() {
    world.happened(Fault.POWER_FAILURE);
    device.powerFailure();
    world.disk.powerFailure(world.random);
    if (world.configuration.network().readsOutlivePeer()) {
      // Clients that read the server's memory after its death run on the same host, so they end,
      // too.
      clients.crashAll();
    }
    if (world.mayHappen(Fault.KEYS_LOST)
        && world.doors.nextBoolean()
        && world.network.forgetKeys()) {
      world.happened(Fault.KEYS_LOST);
    }
  }

  private boolean mayCrashInRecovery() {
    return world.configuration.faults().contains(Fault.SERVER_CRASH_IN_RECOVERY);
  }
}
