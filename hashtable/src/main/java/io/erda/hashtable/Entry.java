package io.erda.hashtable;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * One table entry, 16 bytes, 8-aligned.
 *
 * <pre>
 *        63 ..... 56   55 .................... 0
 *   0    head ID       tag                          key word, 0 = none
 *   8    version word (see {@link VersionWord})     0 = free
 * </pre>
 *
 * The tag holds the bucket bits in its low end, so resizing the table reads no object. A tag is not
 * a key: two keys may share it, and the full key is compared in the object.
 */
public final class Entry {
  /** The number of bytes of an entry. */
  public static final int BYTES = 16;

  public static final int KEY_WORD_OFFSET = 0;
  public static final int VERSION_WORD_OFFSET = 8;

  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle WORD_HANDLE = WORD.varHandle();

  private static final int TAG_BITS = 56;
  private static final long TAG = (1L << TAG_BITS) - 1;

  /**
   * The key word of a key's 64-bit hash: its head in the top byte, its tag below. Never 0.
   *
   * @param heads 1…256
   */
  public static long keyWord(long hash, int heads) {
    long tag = hash & TAG;
    return ((long) head(hash, heads) << TAG_BITS) | (tag == 0 ? 1 : tag);
  }

  /**
   * The head of a key: a fixed function of its hash. Its bits lie above the tag, so head and bucket
   * are independent.
   *
   * @param heads 1…256
   */
  public static int head(long hash, int heads) {
    return (int) (((hash >>> TAG_BITS) * heads) >>> 8);
  }

  /** The head in a key word. */
  public static int headOf(long keyWord) {
    return (int) (keyWord >>> TAG_BITS);
  }

  /** The home bucket of a key word in a table of {@code buckets}, a power of two. */
  public static long bucket(long keyWord, long buckets) {
    return keyWord & (buckets - 1);
  }

  /**
   * Key word of the entry at {@code base}, loaded atomically. The segment is native or a {@code
   * long[]}, 8-aligned at base.
   */
  public static long keyWordAt(MemorySegment memory, long base) {
    return (long) WORD_HANDLE.getAcquire(memory, base + KEY_WORD_OFFSET);
  }

  /**
   * Version word of the entry at {@code base}, loaded atomically. The segment as for {@link
   * #keyWordAt}.
   */
  public static long versionWordAt(MemorySegment memory, long base) {
    return (long) WORD_HANDLE.getAcquire(memory, base + VERSION_WORD_OFFSET);
  }

  private Entry() {}
}
