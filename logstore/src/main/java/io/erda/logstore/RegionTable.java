package io.erda.logstore;

import io.erda.pmem.PersistentMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.UUID;

/**
 * The bytes of the region table: a header of one page, then one record of 64 bytes for each slot.
 *
 * <pre>
 *   0  magic "ErdaLogT"                 8        record of slot s, at 4096 + 64 s:
 *   8  layout version                   4          0  link word            8
 *  12  CRC32C of bytes 0 … 63, this     4          8  high-water mark      8  place in the region, bytes
 *      field as 0                                 16  low-water mark       8  the same
 *  16  store UUID, high half           8         24  copies end           8  a cleaner's copies; 0: none
 *  24  store UUID, low half            8         32  copies begin         8  first unnamed place
 *  32  heads                            4         40  cleaning word        8  the victim's generation
 *  36  segment bytes                    4         48  0                    16
 *  40  region bytes                     8        link word, 0 while the slot is free:
 *  48  slots at its creation            4        63     56 55    48 47      32 31           0
 *  52  0                               12         state     head      index     generation
 *  64  next generation                  8
 *  72  0                             4024        next generation: bits 31 … 0, its complement above
 * </pre>
 *
 * The first 64 bytes never change. Every later store is one atomic word; {@link LogStore} keeps the
 * order between them.
 */
final class RegionTable {
  static final int HEADER_BYTES = 4096;
  static final int RECORD_BYTES = 64;
  static final int LAYOUT_VERSION = 1;
  static final long MAGIC = 0x5467_6F4C_6164_7245L;

  /** A region is linked. The value differs from 0 and from the other state in many bits. */
  static final int STATE_LINKED = 0xA5;

  /** The region is retired: no client can access it any more, and its file is being removed. */
  static final int STATE_RETIRED = 0x5A;

  private static final int FIXED_BYTES = 64;
  private static final int NEXT_GENERATION_OFFSET = 64;
  private static final int HIGH_OFFSET = 8;
  private static final int LOW_OFFSET = 16;
  private static final int COPIES_END_OFFSET = 24;
  private static final int COPIES_BEGIN_OFFSET = 32;
  private static final int CLEANING_OFFSET = 40;

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

  static {
    assert FIXED_BYTES % RECORD_BYTES == 0 && HEADER_BYTES % RECORD_BYTES == 0
        : "a record lies in one cache line";
    assert CLEANING_OFFSET + Long.BYTES <= RECORD_BYTES : "a record holds its words";
    assert NEXT_GENERATION_OFFSET == FIXED_BYTES : "the next generation is not in the checksum";
  }

  private final PersistentMemory memory;

  RegionTable(PersistentMemory memory) {
    this.memory = memory;
  }

  static long bytes(LogGeometry geometry) {
    return HEADER_BYTES + (long) RECORD_BYTES * geometry.slots();
  }

  PersistentMemory memory() {
    return memory;
  }

  /** Stores the header and the first generation, durably. REQUIRES: the memory is all zeros. */
  void format(LogGeometry geometry, UUID store) {
    memory.put(0, header(geometry, store), 0, FIXED_BYTES);
    memory.flush(0, FIXED_BYTES);
    storeNextGeneration(1);
  }

  static MemorySegment header(LogGeometry geometry, UUID store) {
    MemorySegment header = MemorySegment.ofArray(new byte[FIXED_BYTES]);
    header.set(HeaderFields.LONG, 0, MAGIC);
    header.set(HeaderFields.INT, 8, LAYOUT_VERSION);
    HeaderFields.putUuid(header, 16, store);
    header.set(HeaderFields.INT, 32, geometry.heads());
    header.set(HeaderFields.INT, 36, geometry.segmentBytes());
    header.set(HeaderFields.LONG, 40, geometry.regionBytes());
    header.set(HeaderFields.INT, 48, geometry.slots());
    HeaderFields.putChecksum(header, FIXED_BYTES);
    return header;
  }

  /** Requires the header that {@link #format} stores. */
  void check(LogGeometry geometry, UUID store) {
    MemorySegment actual = memory.segment();
    if (actual.byteSize() < HEADER_BYTES) {
      throw new DamagedLogException(
          "region table has " + actual.byteSize() + " bytes, its header " + HEADER_BYTES);
    }
    checkHeader(actual, geometry, store);
    if (!isLongEnough(actual, geometry)) {
      throw new DamagedLogException(
          "region table has " + actual.byteSize() + " bytes, must have " + bytes(geometry));
    }
  }

  /**
   * Whether a table has the records of a geometry, and only zeros after them. Zeros occur when a
   * crash came after the table was lengthened and before the superblock was stored.
   */
  private static boolean isLongEnough(MemorySegment table, LogGeometry geometry) {
    long bytes = bytes(geometry);
    if (table.byteSize() < bytes) {
      return false;
    }
    return isZero(table.asSlice(bytes));
  }

  private static boolean isZero(MemorySegment segment) {
    for (long at = 0; at < segment.byteSize(); at++) {
      if (segment.get(ValueLayout.JAVA_BYTE, at) != 0) {
        return false;
      }
    }
    return true;
  }

  static void checkHeader(MemorySegment header, LogGeometry geometry, UUID store) {
    HeaderFields.check("region table", header, FIXED_BYTES, MAGIC, LAYOUT_VERSION, store);
    LogGeometry stored = geometry(header);
    boolean same =
        stored.heads() == geometry.heads()
            && stored.segmentBytes() == geometry.segmentBytes()
            && stored.regionBytes() == geometry.regionBytes();
    if (!same || stored.slots() > geometry.slots()) {
      throw new DamagedLogException("region table is of " + stored + ", the store of " + geometry);
    }
  }

  private static LogGeometry geometry(MemorySegment header) {
    int heads = header.get(HeaderFields.INT, 32);
    int segmentBytes = header.get(HeaderFields.INT, 36);
    long regionBytes = header.get(HeaderFields.LONG, 40);
    int slots = header.get(HeaderFields.INT, 48);
    try {
      return new LogGeometry(heads, regionBytes, segmentBytes, slots);
    } catch (IllegalArgumentException e) {
      throw new DamagedLogException("region table: " + e.getMessage());
    }
  }

  /** The generation that the next linked region gets; positive. */
  int nextGeneration() {
    long word = memory.segment().get(LONG, NEXT_GENERATION_OFFSET);
    int generation = (int) word;
    if (generation <= 0 || (int) (word >>> 32) != ~generation) {
      throw new DamagedLogException("region table: next generation is 0x" + Long.toHexString(word));
    }
    return generation;
  }

  static long nextGenerationWord(int generation) {
    return (long) ~generation << 32 | generation;
  }

  /** Stores the next generation, durably. */
  void storeNextGeneration(int generation) {
    memory.putLongRelease(NEXT_GENERATION_OFFSET, nextGenerationWord(generation));
    memory.flush(NEXT_GENERATION_OFFSET, Long.BYTES);
    memory.drain();
  }

  static long record(int slot) {
    return HEADER_BYTES + (long) RECORD_BYTES * slot;
  }

  static long linkWord(int head, int index, int generation) {
    assert head >>> 8 == 0 && index >>> 16 == 0 && generation > 0
        : "head " + head + ", index " + index + ", generation " + generation + " fit no link word";
    return (long) STATE_LINKED << 56 | (long) head << 48 | (long) index << 32 | generation;
  }

  /** The link word of the same region, retired. */
  static long retired(long linkWord) {
    assert state(linkWord) == STATE_LINKED : Long.toHexString(linkWord) + " is not linked";
    return (linkWord & ~(0xFFL << 56)) | (long) STATE_RETIRED << 56;
  }

  /**
   * The link words of all slots, by slot. Copies in bulk, because this runs in interpreted code and
   * there may be 65536.
   */
  long[] linkWords(LogGeometry geometry) {
    MemorySegment records =
        memory.segment().asSlice(HEADER_BYTES, (long) RECORD_BYTES * geometry.slots());
    long[] words = records.toArray(LONG);
    long[] linkWords = new long[words.length / (RECORD_BYTES / Long.BYTES)];
    for (int slot = 0; slot < linkWords.length; slot++) {
      linkWords[slot] = words[slot * (RECORD_BYTES / Long.BYTES)];
    }
    return linkWords;
  }

  static int state(long linkWord) {
    return (int) (linkWord >>> 56);
  }

  static int head(long linkWord) {
    return (int) (linkWord >>> 48) & 0xFF;
  }

  static int index(long linkWord) {
    return (int) (linkWord >>> 32) & 0xFFFF;
  }

  static int generation(long linkWord) {
    return (int) linkWord;
  }

  long high(int slot) {
    return memory.segment().get(LONG, record(slot) + HIGH_OFFSET);
  }

  long low(int slot) {
    return memory.segment().get(LONG, record(slot) + LOW_OFFSET);
  }

  long copiesEnd(int slot) {
    return memory.segment().get(LONG, record(slot) + COPIES_END_OFFSET);
  }

  long copiesBegin(int slot) {
    return memory.segment().get(LONG, record(slot) + COPIES_BEGIN_OFFSET);
  }

  /**
   * Returns the generation of the region whose live objects are copied into the copy space; 0 when
   * there is none, or the word is invalid.
   */
  int cleaning(int slot) {
    long word = memory.segment().get(LONG, record(slot) + CLEANING_OFFSET);
    int generation = (int) word;
    return generation > 0 && (int) (word >>> 32) == ~generation ? generation : 0;
  }

  /** Stored and flushed, not drained. */
  void storeCopiesEnd(int slot, long place) {
    assert place >= 0 && (place & 7) == 0 : place;
    store(record(slot) + COPIES_END_OFFSET, place);
  }

  /** Stored and flushed, not drained. */
  void storeCopiesBegin(int slot, long place) {
    assert place >= 0 && (place & 7) == 0 : place;
    store(record(slot) + COPIES_BEGIN_OFFSET, place);
  }

  /**
   * Stored and flushed, not drained.
   *
   * @param generation the generation of the victim, or 0
   */
  void storeCleaning(int slot, int generation) {
    store(record(slot) + CLEANING_OFFSET, generation == 0 ? 0 : nextGenerationWord(generation));
  }

  /** Stored and flushed, not drained. */
  void storeLinkWord(int slot, long linkWord) {
    store(record(slot), linkWord);
  }

  /** Stored and flushed, not drained. */
  void storeHigh(int slot, long place) {
    assert place >= Region.HEADER_BYTES && (place & 7) == 0 : place;
    store(record(slot) + HIGH_OFFSET, place);
  }

  /** Stored and flushed, not drained. */
  void storeLow(int slot, long place) {
    assert place >= Region.HEADER_BYTES && (place & 7) == 0 : place;
    store(record(slot) + LOW_OFFSET, place);
  }

  private void store(long offset, long value) {
    memory.putLongRelease(offset, value);
    memory.flush(offset, Long.BYTES);
  }

  void drain() {
    memory.drain();
  }

  /**
   * Makes all words durable. A process that died may have stored words and not drained them; no
   * later store may depend on a word that can still be lost.
   */
  void flushAll() {
    memory.flush(0, memory.segment().byteSize());
    memory.drain();
  }
}
