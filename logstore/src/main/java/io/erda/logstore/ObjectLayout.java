package io.erda.logstore;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * One object: a key and its value, or a tombstone (Erda paper, section 3.2.1). 8-aligned, never
 * spans two segments.
 *
 * <pre>
 *   0   checksum        4   CRC32C of bytes 4 … 10 + key + value, xor the position mix
 *   4   value length    3   bytes
 *   7   flags           1   bit 0: delete tag; the others are 0
 *   8   key length      2   bytes, at least 1
 *  10   key, then value, then zeros to a multiple of 8 (not covered by the checksum)
 * </pre>
 *
 * A tombstone has no value. The position mix depends on the head, the region generation and the
 * offset, so that an old object in a reused region is never taken for a new one. All zeros are
 * never a valid object, because the key length is then 0. The methods access any {@link
 * MemorySegment}, little-endian and unaligned.
 */
public final class ObjectLayout {
  public static final int CHECKSUM_OFFSET = 0;
  public static final int VALUE_LENGTH_OFFSET = 4;
  public static final int KEY_LENGTH_OFFSET = 8;
  public static final int KEY_OFFSET = 10;

  /** Bytes before the key. */
  public static final int HEADER_BYTES = KEY_OFFSET;

  /** Objects begin at multiples of this. */
  public static final int ALIGNMENT = 8;

  /** The shortest object, without padding: a key of one byte, no value. */
  public static final int BYTES_MIN = HEADER_BYTES + 1;

  public static final int KEY_BYTES_MAX = 0xFFFF;
  public static final int VALUE_BYTES_MAX = 0xFF_FFFF;

  private static final int DELETE_TAG = 1 << 24;
  private static final int FLAGS_UNKNOWN = 0xFE << 24;

  static {
    assert VALUE_LENGTH_OFFSET + Integer.BYTES == KEY_LENGTH_OFFSET
            && KEY_LENGTH_OFFSET + Short.BYTES == KEY_OFFSET
        : "the fields of a header follow each other";
    assert (VALUE_BYTES_MAX ^ DELETE_TAG ^ FLAGS_UNKNOWN) == -1
        : "every bit is of the length, the tag, or unknown";
  }

  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Bytes that header, key and value take, without padding. */
  public static int bytes(int keyLength, int valueLength) {
    return HEADER_BYTES + keyLength + valueLength;
  }

  /** Bytes rounded up to {@link #ALIGNMENT}. */
  public static int padded(int bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** Stores lengths and flags; the caller stores key and value, then the checksum. */
  public static void putHeader(
      MemorySegment memory, long base, int keyLength, int valueLength, boolean tombstone) {
    memory.set(INT, base + VALUE_LENGTH_OFFSET, valueLength | (tombstone ? DELETE_TAG : 0));
    memory.set(SHORT, base + KEY_LENGTH_OFFSET, (short) keyLength);
  }

  /** Checksum, value length and flags, for {@link #plausibleBytes} and {@link #checksum(long)}. */
  public static long firstWord(MemorySegment memory, long base) {
    return memory.get(WORD, base);
  }

  public static int checksum(long firstWord) {
    return (int) firstWord;
  }

  public static void putChecksum(MemorySegment memory, long base, int checksum) {
    memory.set(INT, base + CHECKSUM_OFFSET, checksum);
  }

  public static int checksum(MemorySegment memory, long base) {
    return memory.get(INT, base + CHECKSUM_OFFSET);
  }

  public static int keyLength(MemorySegment memory, long base) {
    return memory.get(SHORT, base + KEY_LENGTH_OFFSET) & KEY_BYTES_MAX;
  }

  public static int valueLength(MemorySegment memory, long base) {
    return memory.get(INT, base + VALUE_LENGTH_OFFSET) & VALUE_BYTES_MAX;
  }

  /** Whether a {@link #firstWord} is that of a tombstone. */
  public static boolean tombstone(long firstWord) {
    return (firstWord >>> 32 & DELETE_TAG) != 0;
  }

  public static boolean tombstone(MemorySegment memory, long base) {
    return (memory.get(INT, base + VALUE_LENGTH_OFFSET) & DELETE_TAG) != 0;
  }

  /**
   * Whether the header could be that of an object of at most {@code room} bytes. Does not check the
   * checksum.
   */
  public static boolean plausible(MemorySegment memory, long base, long room) {
    return room >= BYTES_MIN
        && plausibleBytes(memory.get(WORD, base), keyLength(memory, base), room) != 0;
  }

  /**
   * Returns {@link #bytes} of an object, or 0 when these can't be the fields of an object of at
   * most {@code room} bytes.
   *
   * @param word the first eight bytes of the header
   */
  public static int plausibleBytes(long word, int keyLength, long room) {
    int lengthAndFlags = (int) (word >>> 32);
    int valueLength = lengthAndFlags & VALUE_BYTES_MAX;
    int bytes = bytes(keyLength, valueLength);
    boolean plausible =
        keyLength > 0
            && (lengthAndFlags & FLAGS_UNKNOWN) == 0
            && ((lengthAndFlags & DELETE_TAG) == 0 || valueLength == 0)
            && bytes <= room;
    return plausible ? bytes : 0;
  }

  /**
   * Whether the object at {@code base} has this key. REQUIRES: the object was validated, so that
   * its key lies inside {@code memory}.
   */
  public static boolean keyEquals(
      MemorySegment memory, long base, MemorySegment key, long keyOffset, int keyLength) {
    long begin = base + KEY_OFFSET;
    return keyLength(memory, base) == keyLength
        && MemorySegment.mismatch(
                memory, begin, begin + keyLength, key, keyOffset, keyOffset + keyLength)
            == -1;
  }

  private ObjectLayout() {}
}
