package io.erda.testbed;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Values whose bytes are all determined by key and version, so that a value that is not whole is
 * detected.
 */
final class Value {
  /** The result of {@link #versionOf} for bytes that were never put under this key. */
  static final long WRONG = -1;

  private static final int HEADER_BYTES = 16;
  private static final int BYTES_MAX = 2048;

  private Value() {}

  /** The number of a key; those of two clients differ. */
  static int number(int client, int index) {
    return client * 100_000 + index;
  }

  static byte[] key(int number) {
    return ("key-" + number).getBytes(US_ASCII);
  }

  /** Whether the key is sometimes deleted. Such a key may always be absent. */
  static boolean isDeletedAtTimes(int number) {
    return number % 8 == 7;
  }

  static byte[] of(int number, long version) {
    byte[] value = new byte[length(number, version)];
    ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).putLong(number).putLong(version);
    for (int at = HEADER_BYTES; at < value.length; at++) {
      value[at] = fill(number, version, at);
    }
    return value;
  }

  static long versionOf(int number, byte[] value) {
    if (value.length < HEADER_BYTES) {
      return WRONG;
    }
    ByteBuffer header = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
    long key = header.getLong();
    long version = header.getLong();
    if (key != number || version <= 0 || value.length != length(number, version)) {
      return WRONG;
    }
    for (int at = HEADER_BYTES; at < value.length; at++) {
      if (value[at] != fill(number, version, at)) {
        return WRONG;
      }
    }
    return version;
  }

  private static int length(int number, long version) {
    long random = mix(number * 31L + version);
    int most = (random & 3) == 0 ? BYTES_MAX : 400;
    return HEADER_BYTES + (int) ((random >>> 8) % (most - HEADER_BYTES));
  }

  private static byte fill(int number, long version, int at) {
    return (byte) (number + version * 7 + at * 13L | 1);
  }

  /** A hash, never negative. */
  private static long mix(long value) {
    long z = value * 0x9E3779B97F4A7C15L;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    return (z ^ z >>> 27) >>> 1;
  }
}
