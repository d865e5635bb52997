package io.erda.logstore;

import java.lang.foreign.MemorySegment;
import java.util.UUID;

/**
 * The parts of a log's files for a process that only reads them: the place and the fields of the
 * link word of each slot in the region table, and the check that headers belong to one store.
 * {@code FORMAT.md} has the bytes, and the order in which the server stores them.
 */
public final class LogReading {
  /** Bytes of the headers of region table and region that are checked here. */
  public static final int HEADER_BYTES = Region.HEADER_BYTES;

  /** Bytes of the region table of a log. */
  public static long tableBytes(LogGeometry geometry) {
    return RegionTable.bytes(geometry);
  }

  /** Where the link word of a slot lies in the region table. */
  public static long linkWordAt(int slot) {
    return RegionTable.record(slot);
  }

  /**
   * Whether a link word says that a region is linked. It is false for a free slot and for a retired
   * region.
   */
  public static boolean isLinked(long linkWord) {
    return RegionTable.state(linkWord) == RegionTable.STATE_LINKED;
  }

  public static int head(long linkWord) {
    return RegionTable.head(linkWord);
  }

  /** Number of the region along its head's regions. */
  public static int index(long linkWord) {
    return RegionTable.index(linkWord);
  }

  public static int generation(long linkWord) {
    return RegionTable.generation(linkWord);
  }

  /**
   * Checks the first {@link #HEADER_BYTES} of the region table of a store.
   *
   * @throws DamagedLogException when they are not the header of this store's table
   */
  public static void checkTable(MemorySegment header, LogGeometry geometry, UUID store) {
    RegionTable.checkHeader(header, geometry, store);
  }

  /**
   * Checks the first {@link #HEADER_BYTES} of the region that a link word names.
   *
   * @param bytes the length of the region's file
   * @throws DamagedLogException when they are not the header of this region
   */
  public static void checkRegion(
      MemorySegment header, long bytes, LogGeometry geometry, UUID store, int slot, long linkWord) {
    RegionHeader.check(
        header,
        bytes,
        geometry,
        store,
        slot,
        head(linkWord),
        index(linkWord),
        generation(linkWord));
  }

  private LogReading() {}
}
