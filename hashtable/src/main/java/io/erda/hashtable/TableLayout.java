package io.erda.hashtable;

import io.erda.pmem.PersistentMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The layout of a table's memory; see {@code FORMAT.md}. All words are 8 bytes, little-endian,
 * 8-aligned.
 *
 * <pre>
 *     0  magic                          "ErdaHash"
 *     8  layout version (low 4 bytes), neighbourhood (high 4 bytes)
 *    16  buckets
 *    24  checksum of the three words before
 *    64  intent: source slot
 *    72          destination slot
 *    80          key word
 *    88          version word
 *    96          checksum of the four words before
 *   104          valid word: 0 = nothing is under way; "erdaMOVE" = the displacement, "erdaFREE" = the
 *                emptying that the five words before name
 *   112  zeros
 *   128  stretch: the slots whose entries are being moved to a table of another size; see {@link Stretch}
 *   136  zeros
 *  4096  entry 0, entry 1, … entry buckets + 14
 * </pre>
 */
final class TableLayout {
  static final long MAGIC = 0x6873_6148_6164_7245L; // "ErdaHash"
  static final int LAYOUT_VERSION = 1;

  static final long MAGIC_OFFSET = 0;
  static final long VERSION_OFFSET = 8;
  static final long BUCKETS_OFFSET = 16;
  static final long HEADER_CHECKSUM_OFFSET = 24;
  static final long HEADER_BYTES = 32;

  /** The intent has a separate cache line, so that flushing it writes back no other words. */
  static final long INTENT_OFFSET = 64;

  static final long SOURCE_OFFSET = INTENT_OFFSET;
  static final long DESTINATION_OFFSET = INTENT_OFFSET + 8;
  static final long INTENT_KEY_WORD_OFFSET = INTENT_OFFSET + 16;
  static final long INTENT_VERSION_WORD_OFFSET = INTENT_OFFSET + 24;
  static final long INTENT_CHECKSUM_OFFSET = INTENT_OFFSET + 32;
  static final long VALID_OFFSET = INTENT_OFFSET + 40;
  static final long INTENT_BYTES = 48;

  /** Valid words: the move of an entry, or its emptying (source = destination), is under way. */
  static final long MOVING = 0x4556_4F4D_6164_7265L; // "erdaMOVE"

  static final long EMPTYING = 0x4545_5246_6164_7265L; // "erdaFREE"

  /** The stretch also has a separate cache line, for the same reason as the intent. */
  static final long STRETCH_OFFSET = 128;

  static final long ENTRIES_OFFSET = 4096;

  /**
   * The number of entries after the last bucket, which its neighbourhood needs because there is no
   * wrap-around.
   */
  static final int PADDING = Neighbourhood.ENTRIES - 1;

  /** 2^40 buckets are 16 TiB; a tag has 56 bits. */
  static final long BUCKETS_MAX = 1L << 40;

  static {
    int line = 64;
    assert HEADER_CHECKSUM_OFFSET + Long.BYTES == HEADER_BYTES && HEADER_BYTES <= INTENT_OFFSET
        : "the header lies before the intent";
    assert VALID_OFFSET + Long.BYTES == INTENT_OFFSET + INTENT_BYTES
            && INTENT_OFFSET % line == 0
            && INTENT_BYTES <= line
        : "the intent has a cache line of its own, and its valid word is the last";
    assert STRETCH_OFFSET % line == 0 && STRETCH_OFFSET >= INTENT_OFFSET + line
        : "the stretch has a cache line of its own";
    assert STRETCH_OFFSET + line <= ENTRIES_OFFSET && ENTRIES_OFFSET % line == 0
        : "no entry crosses a cache line";
    assert slots(BUCKETS_MAX) <= Stretch.FIRST_MAX : "a stretch names any slot";
  }

  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

  static long load(MemorySegment memory, long offset) {
    return memory.get(WORD, offset);
  }

  static long entryOffset(long slot) {
    return ENTRIES_OFFSET + slot * Entry.BYTES;
  }

  static long keyWord(MemorySegment memory, long slot) {
    return memory.get(WORD, entryOffset(slot) + Entry.KEY_WORD_OFFSET);
  }

  static long versionWord(MemorySegment memory, long slot) {
    return memory.get(WORD, entryOffset(slot) + Entry.VERSION_WORD_OFFSET);
  }

  static long slots(long buckets) {
    return buckets + PADDING;
  }

  static long bytesFor(long buckets) {
    if (!plausibleBuckets(buckets)) {
      throw new IllegalArgumentException(
          "buckets must be a power of two from 1 to 2^40: " + buckets);
    }
    return entryOffset(slots(buckets));
  }

  static boolean plausibleBuckets(long buckets) {
    return Long.bitCount(buckets) == 1 && buckets > 0 && buckets <= BUCKETS_MAX;
  }

  static long versionAndNeighbourhood() {
    return (long) Neighbourhood.ENTRIES << 32 | LAYOUT_VERSION;
  }

  /** Stores the header; it is not durable yet. */
  static void putHeader(PersistentMemory memory, long buckets) {
    memory.putLongRelease(MAGIC_OFFSET, MAGIC);
    memory.putLongRelease(VERSION_OFFSET, versionAndNeighbourhood());
    memory.putLongRelease(BUCKETS_OFFSET, buckets);
    memory.putLongRelease(
        HEADER_CHECKSUM_OFFSET, checksum(MAGIC, versionAndNeighbourhood(), buckets));
  }

  /**
   * Returns the number of buckets in the header.
   *
   * @throws DamagedTableException when the header has values that {@link #putHeader} never stores,
   *     or the memory is too short
   */
  static long checkedBuckets(MemorySegment memory) {
    if (memory.byteSize() < ENTRIES_OFFSET) {
      throw new DamagedTableException(
          "hash table of " + memory.byteSize() + " bytes, shorter than its header");
    }
    long magic = load(memory, MAGIC_OFFSET);
    if (magic != MAGIC) {
      throw new DamagedTableException(
          "not a hash table: magic " + hex(magic) + " instead of " + hex(MAGIC));
    }
    long versions = load(memory, VERSION_OFFSET);
    long buckets = load(memory, BUCKETS_OFFSET);
    long checksum = load(memory, HEADER_CHECKSUM_OFFSET);
    if (versions != versionAndNeighbourhood()) {
      throw new DamagedTableException(
          "hash table of layout version "
              + (int) versions
              + " with neighbourhood "
              + (versions >>> 32)
              + "; this program reads layout version "
              + LAYOUT_VERSION
              + " with neighbourhood "
              + Neighbourhood.ENTRIES);
    }
    if (checksum != checksum(magic, versions, buckets) || !plausibleBuckets(buckets)) {
      throw new DamagedTableException(
          "hash table header is damaged: "
              + buckets
              + " buckets, checksum "
              + hex(checksum)
              + " instead of "
              + hex(checksum(magic, versions, buckets)));
    }
    if (memory.byteSize() < bytesFor(buckets)) {
      throw new DamagedTableException(
          "hash table of "
              + buckets
              + " buckets needs "
              + bytesFor(buckets)
              + " bytes and has "
              + memory.byteSize());
    }
    return buckets;
  }

  /**
   * Returns the checksum of a header or an intent. It serves to find damage; the order of stores,
   * and not the checksum, ensures that a record is whole.
   */
  static long checksum(long... words) {
    long sum = 0;
    for (long word : words) {
      sum = mix((sum + 0x9E37_79B9_7F4A_7C15L) ^ word);
    }
    return sum;
  }

  /** The finalizer of SplitMix64. */
  private static long mix(long x) {
    x = (x ^ (x >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
    x = (x ^ (x >>> 27)) * 0x94D0_49BB_1331_11EBL;
    return x ^ (x >>> 31);
  }

  static String hex(long word) {
    return String.format("%016x", word);
  }

  private TableLayout() {}
}
