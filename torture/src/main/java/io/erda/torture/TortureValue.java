package io.erda.torture;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Values that contain the ID of their put, which determines every byte: a value that is not whole
 * is detected.
 */
final class TortureValue {
  /** The length of the longest value. */
  static final int BYTES_MAX = 6 << 10;

  /** The result of {@link #idOf} for bytes that were never put. */
  static final long WRONG = -1;

  private static final int ID_BYTES = 8;
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /**
   * A unique positive ID.
   *
   * @param client a unique number of each process that ever ran, from 1
   */
  static long id(int client, int sequence) {
    return ((long) client << 32) | (sequence & 0xFFFF_FFFFL);
  }

  static byte[] key(int number) {
    return ("torture-" + number).getBytes(US_ASCII);
  }

  /** Length of the value with this ID: mostly short, sometimes some KiB. */
  static int length(long id) {
    long random = mix(id) >>> 1;
    int most = random % 8 == 0 ? BYTES_MAX : random % 4 == 0 ? 1024 : 160;
    return ID_BYTES + (int) ((random >>> 8) % (most - ID_BYTES + 1));
  }

  /**
   * Writes the value.
   *
   * @return its length
   */
  static int fill(long id, MemorySegment to) {
    int length = length(id);
    to.set(LONG, 0, id);
    for (int at = ID_BYTES; at < length; at++) {
      to.set(ValueLayout.JAVA_BYTE, at, fillByte(id, at));
    }
    return length;
  }

  /** The ID of the value in the first {@code length} bytes, or {@link #WRONG}. */
  static long idOf(MemorySegment from, long length) {
    if (length < ID_BYTES || length > BYTES_MAX) {
      return WRONG;
    }
    long id = from.get(LONG, 0);
    if (id <= 0 || length(id) != length) {
      return WRONG;
    }
    for (int at = ID_BYTES; at < length; at++) {
      if (from.get(ValueLayout.JAVA_BYTE, at) != fillByte(id, at)) {
        return WRONG;
      }
    }
    return id;
  }

  /** The name of a value in reports. */
  static String name(long id) {
    return (id >>> 32) + "/" + (int) id;
  }

  private static byte fillByte(long id, int at) {
    return (byte) (mix(id + (at >>> 3)) >>> ((at & 7) * 8));
  }

  private static long mix(long value) {
    long x = value * 0x9E37_79B9_7F4A_7C15L;
    x = (x ^ (x >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
    x = (x ^ (x >>> 27)) * 0x94D0_49BB_1331_11EBL;
    return x ^ (x >>> 31);
  }

  private TortureValue() {}
}
