package io.erda.logstore;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Finds whole objects in a range of a segment, in time proportional to the length of the range,
 * whatever bytes it contains.
 *
 * <p>Each 8-byte place is checked, also those inside an object that was found: clients wrote these
 * bytes, and a half-written or forged object must not hide a whole object after it. So a range can
 * have a header with a long length at each place, and computing the checksum of each of them
 * separately would take time proportional to the square of the length. Instead the CRC of every
 * prefix is computed once (CRC32C without its inversions is linear: the CRC of [a, b) is that of
 * [0, b) xor that of [0, a) moved on by b − a zero bytes) and each place then costs at most three
 * multiplications modulo the polynomial.
 *
 * <p>Works on a copy of the range: plain arrays are fast even in interpreted code, and a writer
 * that still runs can't change a word between two checks of it. One thread; keeps its arrays, 12
 * bytes for each 8-byte place of the longest range.
 */
final class ObjectScan {
  /** The polynomial of CRC32C, reflected: bit 31 is x⁰. */
  private static final int POLYNOMIAL = 0x82F6_3B78;

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** {@code TABLE[256 k + b]}: what byte b contributes when k bytes follow it. */
  private static final int[] TABLE = byteTable();

  /** {@code POWERS[256 k + d]}: x to the power 8 d 256ᵏ, moves a CRC on by d 256ᵏ bytes. */
  private static final int[] POWERS = powers();

  private long[] words = new long[0];
  private int[] prefixes = new int[0];

  interface Visitor {
    void object(long place, int bytes);
  }

  /**
   * Visits every valid object that lies in [{@code from}, {@code to}) of a region, by rising place.
   *
   * @param from a place, a multiple of 8; its offset is {@code fromOffset}
   * @param to a multiple of 8 in the same segment, or its end
   */
  void scan(
      MemorySegment memory,
      int head,
      int generation,
      int fromOffset,
      long from,
      long to,
      Visitor visitor) {
    assert ((from | to) & 7) == 0 && from <= to : "from " + from + " to " + to;
    assert (fromOffset - (int) (from >>> 3)) % (LogGeometry.REGION_BYTES_MIN >>> 3) == 0
        : "place " + from + " never has the offset " + fromOffset;
    int count = (int) ((to - from) >>> 3);
    if (words.length < count) {
      words = new long[count];
      prefixes = new int[count + 1];
    }
    MemorySegment.copy(memory, LONG, from, words, 0, count);
    int next = plausible(0, count);
    if (next == count) {
      return;
    }
    computePrefixes(next, count);
    for (; next < count; next = plausible(next + 1, count)) {
      int bytes = plausibleBytes(next, count);
      int checksum =
          checksum(next, bytes) ^ ObjectChecksum.positionMix(head, generation, fromOffset + next);
      if (checksum == (int) words[next]) {
        visitor.object(from + ((long) next << 3), bytes);
      }
    }
  }

  /**
   * Returns the first place at or after {@code i} whose header could be that of an object, or
   * {@code count}.
   */
  private int plausible(int i, int count) {
    while (i < count && plausibleBytes(i, count) == 0) {
      i++;
    }
    return i;
  }

  private int plausibleBytes(int i, int count) {
    if (i + 1 >= count) {
      return 0;
    }
    int keyLength = (int) words[i + 1] & ObjectLayout.KEY_BYTES_MAX;
    return keyLength == 0
        ? 0
        : ObjectLayout.plausibleBytes(words[i], keyLength, (long) (count - i) << 3);
  }

  /**
   * Computes the prefixes from place {@code begin} on. No object lies before it, so the prefix up
   * to there counts as empty.
   */
  private void computePrefixes(int begin, int count) {
    int crc = 0;
    prefixes[begin] = 0;
    for (int i = begin; i < count; i++) {
      long x = words[i] ^ (crc & 0xFFFF_FFFFL);
      crc = x == 0 ? 0 : eightBytes(x);
      prefixes[i + 1] = crc;
    }
  }

  private static int eightBytes(long x) {
    return fourBytes((int) x, 4) ^ fourBytes((int) (x >>> 32), 0);
  }

  /** The CRC of four bytes with {@code behind} zero bytes behind them. */
  private static int fourBytes(int x, int behind) {
    int k = behind << 8;
    return TABLE[k + 768 + (x & 0xFF)]
        ^ TABLE[k + 512 + ((x >>> 8) & 0xFF)]
        ^ TABLE[k + 256 + ((x >>> 16) & 0xFF)]
        ^ TABLE[k + (x >>> 24)];
  }

  /** CRC32C of bytes 4 to {@code bytes} of the object at place {@code i}. */
  private int checksum(int i, int bytes) {
    int before = fourBytes((int) words[i] ^ prefixes[i], 0);
    int end = i + (bytes >>> 3);
    int upTo = prefixes[end];
    int rest = bytes & 7;
    if (rest != 0) {
      long word = words[end];
      for (int k = 0; k < rest; k++, word >>>= 8) {
        upTo = (upTo >>> 8) ^ TABLE[(upTo ^ (int) word) & 0xFF];
      }
    }
    return ~(upTo ^ move(~before, bytes - ObjectLayout.VALUE_LENGTH_OFFSET));
  }

  /** The CRC with {@code bytes} zero bytes behind it. */
  private static int move(int crc, int bytes) {
    int moved = crc;
    for (int digit = 0, rest = bytes; rest != 0; digit += 256, rest >>>= 8) {
      if ((rest & 0xFF) != 0) {
        moved = multiply(moved, POWERS[digit + (rest & 0xFF)]);
      }
    }
    return moved;
  }

  /** Product of two polynomials over GF(2), modulo the polynomial. */
  private static int multiply(int a, int b) {
    int product = 0;
    int x = b;
    for (int rest = a; rest != 0; rest <<= 1) {
      product ^= x & (rest >> 31);
      x = (x >>> 1) ^ (POLYNOMIAL & -(x & 1));
    }
    return product;
  }

  private static int[] byteTable() {
    int[] table = new int[8 * 256];
    for (int b = 0; b < 256; b++) {
      int crc = b;
      for (int bit = 0; bit < 8; bit++) {
        crc = (crc >>> 1) ^ (POLYNOMIAL & -(crc & 1));
      }
      table[b] = crc;
    }
    for (int i = 256; i < table.length; i++) {
      int crc = table[i - 256];
      table[i] = (crc >>> 8) ^ table[crc & 0xFF];
    }
    return table;
  }

  private static int[] powers() {
    int[] powers = new int[3 * 256];
    int step = 1 << (31 - 8);
    for (int digit = 0; digit < powers.length; digit += 256) {
      int power = 1 << 31;
      for (int d = 0; d < 256; d++, power = multiply(step, power)) {
        powers[digit + d] = power;
      }
      step = power;
    }
    return powers;
  }
}
