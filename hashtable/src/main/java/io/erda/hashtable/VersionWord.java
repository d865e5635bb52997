package io.erda.hashtable;

/**
 * The 8-byte word that says where the newest and the older version of an object are (Erda paper,
 * section 3.2.3 and 4.1).
 *
 * <pre>
 *  63        62 ........ 32   31 ........ 1   0
 *  new tag   offset 1         offset 0        pending
 * </pre>
 *
 * New tag 1: offset 1 is the newest version and offset 0 the one before; new tag 0: the other way
 * round. An offset counts 8-byte units along the regions of the key's head; 0 means no version.
 * Pending: the newest version is not committed, readers take the one before. A word of 0 is a free
 * entry.
 */
public final class VersionWord {
  /** No version. */
  public static final int NONE = 0;

  /** The largest offset, in 8-byte units. */
  public static final int OFFSET_MAX = Integer.MAX_VALUE;

  /**
   * In a table that is being resized: the entry is in the new table. Pending and without any
   * offset, which no entry's word ever is: a reader who takes it for one finds no committed version
   * in it, passes on, and looks into the new table.
   */
  public static final long MOVED = 0x8000_0000_0000_0001L;

  private static final long NEW_TAG = 1L << 63;
  private static final long PENDING = 1L;
  private static final long OFFSET_1 = ((long) OFFSET_MAX) << 32;
  private static final long OFFSET_0 = ((long) OFFSET_MAX) << 1;

  /** Offset of the newest version, 8-byte units. */
  public static int newest(long word) {
    return word < 0 ? offset1(word) : offset0(word);
  }

  /** Offset of the version before the newest, or {@link #NONE}. */
  public static int older(long word) {
    return word < 0 ? offset0(word) : offset1(word);
  }

  /**
   * Whether one of the two offsets has exactly these {@code bits} under {@code mask}. An offset of
   * {@link #NONE} is compared like any other. A sweep calls this for every word of a table.
   *
   * @param mask of an offset, at most {@link #OFFSET_MAX}
   */
  public static boolean hasOffset(long word, int mask, int bits) {
    return ((int) (word >>> 32) & mask) == bits | ((int) (word >>> 1) & mask) == bits;
  }

  /** Whether the newest version is not committed. */
  public static boolean pending(long word) {
    return (word & PENDING) != 0;
  }

  /**
   * Offset of the version that readers take: the newest, or the older one while that is pending.
   */
  public static int committed(long word) {
    return pending(word) ? older(word) : newest(word);
  }

  /**
   * The word after an update: the tag flips and only the older offset is overwritten.
   *
   * <p>REQUIRES: {@code word} is not pending.
   *
   * @param offset of the new version, 1 … {@link #OFFSET_MAX}
   */
  public static long update(long word, int offset, boolean pending) {
    if (pending(word)) {
      throw new IllegalStateException("two undecided versions in one word: " + toString(word));
    }
    if (offset == NONE) {
      throw new IllegalArgumentException("an update needs an offset: " + toString(word));
    }
    long updated = withNewest(word ^ NEW_TAG, offset) | (pending ? PENDING : 0);
    assert newest(updated) == offset && older(updated) == newest(word)
        : toString(word) + " became " + toString(updated);
    return updated;
  }

  /** The word of a key's first version. */
  public static long first(int offset, boolean pending) {
    return update(0L, offset, pending);
  }

  /** The same versions, the newest committed. */
  public static long commit(long word) {
    return word & ~PENDING;
  }

  /**
   * The word without its newest version: the tag flips back and the rolled-back offset becomes
   * {@link #NONE}. 0, a free entry, when there was no version before.
   *
   * <p>REQUIRES: {@code word} is pending; what is committed is never rolled back.
   */
  public static long rollback(long word) {
    if (!pending(word)) {
      throw new IllegalStateException("a committed version is not rolled back: " + toString(word));
    }
    if (older(word) == NONE) {
      return 0L;
    }
    long former = (withNewest(word, NONE) ^ NEW_TAG) & ~PENDING;
    assert newest(former) == older(word) && older(former) == NONE
        : toString(word) + " became " + toString(former);
    return former;
  }

  /** The same word with another offset of the newest version: relocation by the cleaner. */
  public static long withNewest(long word, int offset) {
    return word < 0 ? withOffset1(word, offset) : withOffset0(word, offset);
  }

  /** The same word with another offset of the older version: relocation by the cleaner. */
  public static long withOlder(long word, int offset) {
    return word < 0 ? withOffset0(word, offset) : withOffset1(word, offset);
  }

  /** The word in words, for messages. */
  public static String toString(long word) {
    if (word == 0 || word == MOVED) {
      return word == 0 ? "free" : "moved";
    }
    return "newest "
        + newest(word)
        + (pending(word) ? " pending" : "")
        + ", older "
        + older(word)
        + ", tag "
        + (word >>> 63);
  }

  private static int offset1(long word) {
    return (int) (word >>> 32) & OFFSET_MAX;
  }

  private static int offset0(long word) {
    return (int) (word >>> 1) & OFFSET_MAX;
  }

  private static long withOffset1(long word, int offset) {
    return (word & ~OFFSET_1) | ((long) checked(offset) << 32);
  }

  private static long withOffset0(long word, int offset) {
    return (word & ~OFFSET_0) | ((long) checked(offset) << 1);
  }

  /** A negative offset would spill into the new tag. */
  private static int checked(int offset) {
    if (offset < 0) {
      throw new IllegalArgumentException(
          "offset beyond 31 bits: " + Integer.toUnsignedString(offset));
    }
    return offset;
  }

  private VersionWord() {}
}
