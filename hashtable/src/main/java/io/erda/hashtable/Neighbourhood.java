package io.erda.hashtable;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The 16 contiguous entries that a key can be in, as one READ fetches them: a flyweight over a
 * private copy (or over the table itself, for its writer). Loads are plain: no other thread stores
 * to the bytes, or the caller tolerates such stores.
 *
 * <p><b>Reader's rule.</b> A match is only a candidate. The words of one READ arrive in any order,
 * so the key word and the version word may be of different times; and two keys may share a key
 * word. So a reader tries every match, and compares the full key in the checked object. When no
 * match holds the key, the key is <em>absent</em> only if the structure counter was even and the
 * same before and after the whole READ (design, "A get").
 *
 * <p>The copy may be in any segment (heap or native), at any alignment; a native segment is
 * quickest.
 */
public final class Neighbourhood {
  /** How many entries a neighbourhood has. */
  public static final int ENTRIES = 16;

  /** How many bytes a neighbourhood has, which one READ fetches. */
  public static final int BYTES = ENTRIES * Entry.BYTES;

  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /**
   * Returns the offset in bytes of the neighbourhood of a key word in the table's memory; the table
   * has {@link #BYTES} bytes from there on.
   *
   * @param buckets number of buckets of the table, a power of two
   */
  public static long offset(long keyWord, long buckets) {
    return TableLayout.entryOffset(Entry.bucket(keyWord, buckets));
  }

  /**
   * The first entry at or after {@code fromIndex} with this key word that is not free.
   *
   * <p>The loop ends at the first match. In a table that is not about to overflow most keys lie in
   * the first slots of their neighbourhood, so the branch is predicted well, and this is quicker
   * than comparing all 16 entries without branches ({@code HotPath} among the tests measures it).
   *
   * @param base where the neighbourhood begins in {@code segment}, bytes
   * @param keyWord not 0
   * @param fromIndex 0…{@link #ENTRIES}; to go on, one more than the previous match
   * @return its index, or -1
   */
  public static int nextMatch(MemorySegment segment, long base, long keyWord, int fromIndex) {
    for (int i = fromIndex; i < ENTRIES; i++) {
      if (keyWord(segment, base, i) == keyWord && versionWord(segment, base, i) != 0) {
        return i;
      }
    }
    return -1;
  }

  /** Key word of entry {@code index}. */
  public static long keyWord(MemorySegment segment, long base, int index) {
    return segment.get(WORD, base + (long) index * Entry.BYTES + Entry.KEY_WORD_OFFSET);
  }

  /** Version word of entry {@code index}; 0 is free. */
  public static long versionWord(MemorySegment segment, long base, int index) {
    return segment.get(WORD, base + (long) index * Entry.BYTES + Entry.VERSION_WORD_OFFSET);
  }

  private Neighbourhood() {}
}
