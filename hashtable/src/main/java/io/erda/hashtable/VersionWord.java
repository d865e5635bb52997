package io.erda.hashtable;

/**
 * The 8-byte word that names the places of the newest and the older version of an object (Erda
 * paper, sections 3.2.3 and 4.1).
 *
 * <pre>
 *  63        62 ........ 32   31 ........ 1   0
 *  new tag   offset 1         offset 0        pending
 * </pre>
 *
 * New tag 1: offset 1 is the newest version and offset 0 the one before; new tag 0: the other way
 * round. An offset counts 8-byte units along the regions of the key's head; 0 means no version.
 * When the pending bit is set the newest version is not committed, and readers take the older one.
 * A word of 0 is a free entry.
 */
public final class VersionWord {
  /** No version. */
  public static final int NONE = 0;

  /** The largest offset, in 8-byte units. */
  public static final int OFFSET_MAX = Integer.MAX_VALUE;

  /**
   * In a table that is being resized: the entry was moved to the new table. The word is pending and
   * has no offset, which the word of an entry never is. A reader that takes it for the word of an
   * entry finds no committed version in it, goes on, and looks into the new table.
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
   * @param mask a mask of an offset, at most {@link #OFFSET_MAX}
   */
  public static boolean hasOffset(long word, int mask, int bits) {
    return ((int) (word >>> 32) & mask) == bits | ((int) (word >>> 1) & mask) == bits;
  }

  /** Whether the newest version is not committed. */
  public static boolean pending(long word) {
    return (word & PENDING) != 0;
  }

  /** Whether a slot with this word holds an entry of its table. */
  static boolean inUse(long word) {
    return word != 0 && word != MOVED;
  }

  /**
   * Whether the newest version of both words is the same. A word without a newest version, which
   * only damage makes, shares it with none.
   */
  static boolean sameNewest(long word, long other) {
    return newest(word) != NONE && newest(word) == newest(other);
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
   * @param offset the offset of the new version, 1 … {@link #OFFSET_MAX}
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

  /** Returns the word with the same versions, of which the newest is committed. */
  public static long commit(long word) {
    return word & ~PENDING;
  }

  /**
   * The word without its newest version: the tag flips back and the rolled-back offset becomes
   * {@link #NONE}. Returns 0, a free entry, when there is no older version.
   *
   * <p>REQUIRES: {@code word} is pending; a committed version is never rolled back.
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

  /**
   * Returns the word with another offset of the newest version. The cleaner uses it when it
   * relocates an object.
   */
  public static long withNewest(long word, int offset) {
    return word < 0 ? withOffset1(word, offset) : withOffset0(word, offset);
  }

  /**
   * Returns the word with another offset of the older version. The cleaner uses it when it
   * relocates an object.
   */
  public static long withOlder(long word, int offset) {
    return word < 0 ? withOffset0(word, offset) : withOffset1(word, offset);
  }

  /**
   * Returns another word that names the same versions: the two offsets have changed places, and the
   * tag is flipped.
   */
  public static long mirrored(long word) {
    return withOffset0(withOffset1(word ^ NEW_TAG, offset0(word)), offset1(word));
  }

  /** Returns how many words {@link #same} knows. */
  public static int sameMax() {
    return 6;
  }

  /**
   * Returns a word for the same newest version, by number: 0 is the word itself, 1 its mirror
   * image, 2 and 3 are the same without an older version, 4 and 5 with the newest version as the
   * older one, too. All have the meaning of the word for readers of a decided word. At least four
   * of them are different.
   *
   * <p>REQUIRES: {@code word} is decided, and has a newest version.
   *
   * @param number 0 … {@link #sameMax} − 1
   */
  public static long same(long word, int number) {
    assert !pending(word) && newest(word) != NONE : toString(word);
    long of =
        switch (number >> 1) {
          case 0 -> word;
          case 1 -> withOlder(word, NONE);
          default -> withOlder(word, newest(word));
        };
    return (number & 1) == 0 ? of : mirrored(of);
  }

  /**
   * Returns the word of an entry that is locked: pending, and both offsets are the newest version.
   *
   * <p>REQUIRES: {@code word} is not pending and has a newest version.
   */
  public static long locked(long word) {
    assert !pending(word) && newest(word) != NONE : toString(word);
    return withOlder(word, newest(word)) | PENDING;
  }

  /** Whether the word is that of a locked entry. */
  public static boolean isLocked(long word) {
    return pending(word) && newest(word) != NONE && newest(word) == older(word);
  }

  /** Whether {@code word} is that of an entry that had {@code of} and is locked. */
  static boolean isLockOf(long word, long of) {
    return isLocked(word) && sameNewest(word, of);
  }

  /** Returns a description of the word for messages. */
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

  /** Checks an offset. A negative offset would change the new tag. */
  private static int checked(int offset) {
    if (offset < 0) {
      throw new IllegalArgumentException(
          "offset beyond 31 bits: " + Integer.toUnsignedString(offset));
    }
    return offset;
  }

  private VersionWord() {}
}
