package io.erda.logstore;

import io.erda.pmem.PersistentMemory;
import java.lang.foreign.MemorySegment;
import java.util.UUID;

/**
 * The first 64 bytes of a region. They never change.
 *
 * <pre>
 *   0  magic "ErdaRegn"            8        32  slot in the region table   4
 *   8  layout version              4        36  generation                 4
 *  12  CRC32C of bytes 0 … 63,     4        40  head                       4
 *      this field as 0                      44  index along the head       4
 *  16  store UUID, high half       8        48  region bytes               8
 *  24  store UUID, low half        8        56  segment bytes              4
 *                                           60  0                          4
 * </pre>
 */
final class RegionHeader {
  static final long MAGIC = 0x6E67_6552_6164_7245L;
  static final int LAYOUT_VERSION = 1;

  static MemorySegment bytes(
      LogGeometry geometry, UUID store, int slot, int head, int index, int generation) {
    MemorySegment header = MemorySegment.ofArray(new byte[Region.HEADER_BYTES]);
    header.set(HeaderFields.LONG, 0, MAGIC);
    header.set(HeaderFields.INT, 8, LAYOUT_VERSION);
    HeaderFields.putUuid(header, 16, store);
    header.set(HeaderFields.INT, 32, slot);
    header.set(HeaderFields.INT, 36, generation);
    header.set(HeaderFields.INT, 40, head);
    header.set(HeaderFields.INT, 44, index);
    header.set(HeaderFields.LONG, 48, geometry.regionBytes());
    header.set(HeaderFields.INT, 56, geometry.segmentBytes());
    HeaderFields.putChecksum(header, Region.HEADER_BYTES);
    return header;
  }

  /** Stores the header, durably. */
  static void format(
      PersistentMemory memory,
      LogGeometry geometry,
      UUID store,
      int slot,
      int head,
      int index,
      int generation) {
    memory.put(0, bytes(geometry, store, slot, head, index, generation), 0, Region.HEADER_BYTES);
    memory.flush(0, Region.HEADER_BYTES);
    memory.drain();
  }

  /** Requires the header that {@link #format} stores. */
  static void check(
      MemorySegment memory,
      LogGeometry geometry,
      UUID store,
      int slot,
      int head,
      int index,
      int generation) {
    check(memory, memory.byteSize(), geometry, store, slot, head, index, generation);
  }

  /**
   * Requires the header that {@link #format} stores, in memory that may hold only part of the
   * region.
   *
   * @param memory the beginning of the region, at least its header
   * @param bytes the length of the region
   */
  static void check(
      MemorySegment memory,
      long bytes,
      LogGeometry geometry,
      UUID store,
      int slot,
      int head,
      int index,
      int generation) {
    String what = LogFiles.region(slot, generation);
    if (bytes != geometry.regionBytes()) {
      throw new DamagedLogException(
          what + ": has " + bytes + " bytes, must have " + geometry.regionBytes());
    }
    HeaderFields.check(what, memory, Region.HEADER_BYTES, MAGIC, LAYOUT_VERSION, store);
    require(what, "slot", memory.get(HeaderFields.INT, 32), slot);
    require(what, "generation", memory.get(HeaderFields.INT, 36), generation);
    require(what, "head", memory.get(HeaderFields.INT, 40), head);
    require(what, "index", memory.get(HeaderFields.INT, 44), index);
    require(what, "region size", memory.get(HeaderFields.LONG, 48), geometry.regionBytes());
    require(what, "segment size", memory.get(HeaderFields.INT, 56), geometry.segmentBytes());
  }

  static int generation(MemorySegment memory) {
    return memory.get(HeaderFields.INT, 36);
  }

  static int head(MemorySegment memory) {
    return memory.get(HeaderFields.INT, 40);
  }

  static int index(MemorySegment memory) {
    return memory.get(HeaderFields.INT, 44);
  }

  private static void require(String what, String field, long actual, long expected) {
    if (actual != expected) {
      throw new DamagedLogException(
          what + ": header says " + field + " " + actual + ", the region table " + expected);
    }
  }

  private RegionHeader() {}
}
