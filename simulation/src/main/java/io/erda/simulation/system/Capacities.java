package io.erda.simulation.system;

import io.erda.logstore.LogFiles;
import io.erda.logstore.LogGeometry;
import io.erda.server.engine.files.StoreFiles;
import io.erda.simulation.SimulatedDisk.Aim;
import java.util.SplittableRandom;

/**
 * The capacity of the log that each opening asks for: some ask for more regions than before, or for
 * fewer, and some of these are killed in the middle of the change.
 */
final class Capacities {
  private static final int ODDS = 4;
  private static final int CRASH_ODDS = 3;

  /** A store may get at most this many times its first number of regions. */
  private static final int TIMES_MAX = 3;

  /** About as many stores, flushes and drains as an opening needs for changing superblocks. */
  private static final int EVENTS = 18;

  private final World world;
  private final SplittableRandom random;
  private final LogGeometry created;
  private int wanted;
  private int before;

  Capacities(World world) {
    this.world = world;
    this.random = world.capacities;
    this.created = world.configuration.store().geometry();
  }

  /** The number of regions that the next opening asks for; 0: it does not ask. */
  int next() {
    wanted = 0;
    before = world.store.regionsMax();
    boolean raises = world.mayHappen(Fault.CAPACITY_RAISED);
    boolean lowers = world.mayHappen(Fault.CAPACITY_LOWERED);
    if (world.healing || !(raises || lowers) || before == 0 || random.nextInt(ODDS) != 0) {
      return 0;
    }
    // At least one region more than heads: fewer are refused.
    int least = lowers ? created.heads() + 1 : before;
    int most = raises ? TIMES_MAX * created.regionsMax() : before;
    wanted = random.nextInt(least, Math.max(least, most) + 1);
    if (random.nextInt(CRASH_ODDS) == 0 && world.mayHappen(Fault.SERVER_CRASH_IN_RECOVERY)) {
      world.disk.crashAt(
          random.nextBoolean()
              ? new Aim(StoreFiles.SUPERBLOCK, 0, Long.MAX_VALUE, 1 + random.nextInt(EVENTS), 0)
              : new Aim(LogFiles.REGIONS, 0, Long.MAX_VALUE, 1 + random.nextInt(3), 0));
    }
    return wanted;
  }

  /** Whether the current or last opening asked for a capacity. */
  boolean isAsked() {
    return wanted != 0;
  }

  /** Notes that an opening has succeeded. */
  void opened() {
    int now = world.store.regionsMax();
    if (before > 0 && now > before) {
      world.happened(Fault.CAPACITY_RAISED);
    } else if (now < before) {
      world.happened(Fault.CAPACITY_LOWERED);
    }
  }
}
