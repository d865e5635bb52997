package io.erda.simulation.system;

import io.erda.hashtable.KeyHash;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Keys of 8 bytes that share a key word: all 56 bits of the tag, and the head. By chance a pair of
 * keys shares one with probability 2^-56; but for inputs of one length of 4 to 8 bytes XXH3-64 is a
 * bijection, so the key of a given hash can be computed.
 *
 * <p>It only uses the final avalanche of XXH3 (its specification, "XXH3 on 4 to 8 bytes"); seed and
 * secret are mixed in before that by one exclusive or, whose operand any hash reveals.
 */
final class TwinKeys {
  /** The length of keys that have twins. */
  static final int KEY_BYTES = 8;

  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final long MULTIPLIER = 0x9FB21C651E98DF25L;
  private static final long INVERSE = inverse(MULTIPLIER);

  /**
   * The lowest bit above the tag: it does not influence the head when the number of heads is a
   * power of two below 256.
   */
  private static final long NOT_IN_KEY_WORD = 1L << 56;

  private TwinKeys() {}

  /**
   * The other key with a key's key word, in a store of at most 128 heads, a power of two.
   *
   * @param key 8 bytes
   * @param hashSeed of the store
   */
  static byte[] twin(byte[] key, long hashSeed) {
    MemorySegment bytes = MemorySegment.ofArray(key);
    long hash = new KeyHash(hashSeed).of(bytes, 0, KEY_BYTES);
    long mixedIn = beforeAvalanche(hash) ^ swapped(bytes.get(WORD, 0));
    byte[] twin = new byte[KEY_BYTES];
    MemorySegment.ofArray(twin)
        .set(WORD, 0, swapped(beforeAvalanche(hash ^ NOT_IN_KEY_WORD) ^ mixedIn));
    return twin;
  }

  /** XXH3 reads the first four bytes as the upper half. */
  private static long swapped(long word) {
    return Long.rotateLeft(word, Integer.SIZE);
  }

  private static long beforeAvalanche(long hash) {
    long word = hash ^ hash >>> 28 ^ hash >>> 56;
    word *= INVERSE;
    word ^= (word >>> 35) + KEY_BYTES;
    word *= INVERSE;
    // 1 + x^49 + x^24 to the 64th power is 1 when x^64 is 1, so its 63rd power is its inverse.
    for (int i = 0; i < Long.SIZE - 1; i++) {
      word ^= Long.rotateLeft(word, 49) ^ Long.rotateLeft(word, 24);
    }
    return word;
  }

  /**
   * Inverts an odd number modulo 2^64: each step of Newton's iteration doubles the number of
   * correct bits.
   */
  private static long inverse(long odd) {
    long inverse = odd;
    for (int bits = 3; bits < Long.SIZE; bits *= 2) {
      inverse *= 2 - odd * inverse;
    }
    return inverse;
  }
}
