package io.erda.launcher.doctor;

import io.erda.hashtable.HashTable;
import io.erda.server.ServerOptions;

/** How much room the disk has, and which store fits. */
final class SpaceFinding {
  private static final String NAME = "disk space";
  private static final ServerOptions DEFAULTS = ServerOptions.DEFAULTS;

  /** One region for the first objects, and one that a cleaning copies to. */
  private static final int REGIONS_OF_DEFAULT = 2;

  /** The size of {@code shm/}: the registry, and a queue file for each of some clients. */
  private static final long BESIDE_BYTES = 6L << 20;

  /** The size of a new store by default; with less room a server refuses to create it. */
  private static final long BYTES_OF_DEFAULT =
      BESIDE_BYTES
          + HashTable.bytesFor(DEFAULTS.buckets())
          + REGIONS_OF_DEFAULT * DEFAULTS.regionBytes();

  /** A value must fit a region, of which a log has sixteen or more. */
  private static final long CAPACITY_MIN = 1L << 20;

  /** A bucket for each so many bytes of the capacity, the size of a small object. */
  private static final long BYTES_OF_BUCKET = 128;

  /**
   * @param room null when it is unknown
   */
  static Finding of(Surroundings surroundings, Room room) {
    if (room == null || room.totalBytes() == 0) {
      return Finding.ok(NAME, "the file system does not tell");
    }
    String found =
        ByteText.of(room.usableBytes()) + " of " + ByteText.of(room.totalBytes()) + " free";
    boolean stored = Surroundings.holdsStore(surroundings.data());
    if (!stored && room.usableBytes() < BYTES_OF_DEFAULT) {
      return Finding.wrong(
          NAME,
          found
              + ": a new store takes "
              + ByteText.of(BYTES_OF_DEFAULT)
              + ", of which two regions are "
              + ByteText.of(REGIONS_OF_DEFAULT * DEFAULTS.regionBytes())
              + ", the second one for cleaning",
          mend(room));
    }
    return room.usableBytes() < room.totalBytes() / 10
        ? Finding.note(
            NAME,
            found + ": when it is full puts are refused, reads and deletes go on",
            "free some, or delete keys; ./erda clean gives space back to the file system")
        : Finding.ok(NAME, found);
  }

  private static String mend(Room room) {
    ServerOptions fitting = fitting(room.usableBytes());
    if (fitting == null) {
      return "it is too small for any store: free some, or --data DIR names a directory of another"
          + " disk";
    }
    return "free some, or a smaller store, whose values have less than "
        + ByteText.of(fitting.segmentBytes())
        + ": ./erda server --data DIR --capacity "
        + (fitting.capacityBytes() >> 20)
        + "M --buckets "
        + fitting.buckets();
  }

  /**
   * The largest store that fits with its whole log, and with the table that replaces its first one;
   * null when none fits.
   */
  static ServerOptions fitting(long usableBytes) {
    long half = (usableBytes - BESIDE_BYTES) / 2;
    if (half < CAPACITY_MIN) {
      return null;
    }
    long capacity = Long.highestOneBit(half);
    return DEFAULTS.withCapacityBytes(capacity).withBuckets(capacity / BYTES_OF_BUCKET);
  }

  private SpaceFinding() {}
}
