package io.erda.simulation.system;

import io.erda.logstore.LogFiles;
import io.erda.protocol.Root;
import io.erda.server.engine.files.StoreFiles;
import io.erda.simulation.SimulatedDisk;
import io.erda.simulation.SimulatedDisk.Aim;

/**
 * Chooses where the next crash of a server, or the next failure of its device, strikes: anywhere,
 * or in rare critical steps.
 */
final class CrashAim {
  private static final int CROWD = 16;

  /** Number of the aim at these places. */
  private static final int RESIZED = 6;

  /** Storing both copies of a superblock takes this many stores, flushes and drains. */
  private static final int EVENTS_OF_SUPERBLOCK = 6;

  /** The most superblocks that a resizing stores. */
  private static final int RESIZINGS = 4;

  /** Number of the aim in the middle of a resizing. */
  private static final int STRETCH = 10;

  /** The place of the table's word that names the stretch being moved. */
  private static final long STRETCH_WORD = 128;

  private static final int STRETCHES = 32;

  /** About as many stores, flushes and drains as moving a few entries takes afterwards. */
  private static final int EVENTS_OF_STRETCH = 24;

  /** The bytes of a table with the intent to move or to remove an entry. */
  private static final long INTENT = 64;

  private static final long INTENT_END = 112;

  /** The stores and flushes of the intent in a move. */
  private static final int EVENTS_OF_INTENT = 10;

  private static final int MOVES = 4;
  private static final int DRAINS_OF_MOVE = 5;

  private final World world;

  CrashAim(World world) {
    this.world = world;
  }

  /** Makes the server's process crash inside one of its next events. */
  void soon() {
    var random = world.random;
    SimulatedDisk disk = world.disk;
    int further = random.nextBoolean() ? 0 : random.nextInt(24);
    switch (nextPlace()) {
      case 0 -> disk.crashAt(atIntent(1 + random.nextInt(12), further));
      case 1 ->
          disk.crashAt(
              new Aim(
                  StoreFiles.TABLE_PREFIX,
                  4096,
                  Long.MAX_VALUE,
                  1 + random.nextInt(16),
                  further / 4));
      case 2, 4 ->
          disk.crashAt(
              new Aim(LogFiles.REGIONS, 0, Long.MAX_VALUE, 1 + random.nextInt(4), further));
      case 3 -> disk.crashAfter(SimulatedDisk.Event.DRAIN, 1 + random.nextInt(20));
      // The region map has changed, and its epoch has not, or just has.
      case 5 ->
          disk.crashAt(
              new Aim(
                  StoreFiles.ROOT,
                  Root.EPOCH_OFFSET,
                  Root.STRUCTURE_COUNTER_OFFSET,
                  1 + random.nextInt(3),
                  random.nextInt(2)));
      // A file is created, removed or renamed.
      case 7 -> disk.crashAfter(SimulatedDisk.Event.DIRECTORY, 1 + random.nextInt(4));
      // The resizing of a table begins or ends.
      case RESIZED ->
          disk.crashAt(
              new Aim(
                  StoreFiles.SUPERBLOCK,
                  0,
                  Long.MAX_VALUE,
                  1
                      + random.nextInt(
                          comeAndGo() ? RESIZINGS * EVENTS_OF_SUPERBLOCK : EVENTS_OF_SUPERBLOCK),
                  random.nextInt(3)));
      // Entries are moved to another table.
      case STRETCH ->
          disk.crashAt(
              new Aim(
                  StoreFiles.TABLE_PREFIX,
                  STRETCH_WORD,
                  STRETCH_WORD + Long.BYTES,
                  1 + random.nextInt(STRETCHES),
                  random.nextInt(EVENTS_OF_STRETCH)));
      default -> disk.crashAfter(1 + random.nextInt(1 << random.nextInt(1, 9)));
    }
  }

  /** Makes the device fail at some drain: at any, or when an entry moves. */
  void drainFails() {
    var random = world.drains;
    if (world.configuration.keys() > CROWD && random.nextBoolean()) {
      world.disk.failDrainAfter(
          atIntent(1 + random.nextInt(MOVES * EVENTS_OF_INTENT), random.nextInt(DRAINS_OF_MOVE)));
    } else {
      world.disk.failDrain(1 + random.nextInt(1 << random.nextInt(2, 10)));
    }
  }

  /** Whether tables grow and shrink in this run. */
  private boolean comeAndGo() {
    return world.configuration.mix().tides() > 0;
  }

  private int nextPlace() {
    var random = world.random;
    if (comeAndGo()) {
      return switch (random.nextInt(3)) {
        case 0 -> STRETCH;
        case 1 -> RESIZED;
        default -> place();
      };
    }
    return random.nextInt(3) == 0 && growsBesideReaders() ? RESIZED : place();
  }

  private static Aim atIntent(int count, int further) {
    return new Aim(StoreFiles.TABLE_PREFIX, INTENT, INTENT_END, count, further);
  }

  /** The place to aim at: when keys crowd, entries move; otherwise an intent is rare. */
  private int place() {
    return world.random.nextInt(7) < 4 && world.configuration.keys() > CROWD
        ? 0
        : world.random.nextInt(10);
  }

  /** Whether a table may double while a client that lost its server reads on. */
  private boolean growsBesideReaders() {
    return world.configuration.doubles()
        && world.configuration.keys() > CROWD
        && world.configuration.network().readsOutlivePeer();
  }
}
