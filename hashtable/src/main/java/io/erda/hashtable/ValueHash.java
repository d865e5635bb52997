package io.erda.hashtable;

import static io.erda.hashtable.Xxh3.PRIME32_2;
import static io.erda.hashtable.Xxh3.PRIME64_1;
import static io.erda.hashtable.Xxh3.PRIME64_2;
import static io.erda.hashtable.Xxh3.PRIME64_4;
import static io.erda.hashtable.Xxh3.PRIME_MX2;
import static io.erda.hashtable.Xxh3.avalanche;
import static io.erda.hashtable.Xxh3.avalanche64;
import static io.erda.hashtable.Xxh3.mix;
import static io.erda.hashtable.Xxh3.secret;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * The 128-bit hash of values. A client sends it instead of the value that it expects a key to have.
 * It is XXH3 without a seed, because a client builds a request before it knows the store. The hash
 * is part of the protocol: the same bytes give the same hash on every platform, on the heap and in
 * native memory. Two values with the same length and hash count as equal; by chance that happens
 * once in 2<sup>128</sup> pairs. One thread; allocates nothing after its construction.
 */
public final class ValueHash {
  private static final byte[] SECRET = Xxh3.secretOf(0);

  private final long[] upper = new long[1];
  private long low;
  private long high;

  /**
   * Computes the hash of {@code length} bytes of {@code segment} at {@code offset}, for {@link
   * #low} and {@link #high}.
   *
   * @throws IndexOutOfBoundsException when the bytes are not all in the segment
   */
  public void compute(MemorySegment segment, long offset, long length) {
    Objects.checkFromIndexSize(offset, length, segment.byteSize());
    if (length > Xxh3.SHORT_MAX) {
      low = Xxh3.ofLong(Loads.CHECKED, segment, offset, length, SECRET, upper);
      high = upper[0];
    } else if (length > 128) {
      upTo240(segment, offset, length);
    } else if (length > 16) {
      upTo128(segment, offset, length);
    } else if (length > 8) {
      upTo16(segment, offset, length);
    } else if (length >= 4) {
      upTo8(segment, offset, length);
    } else {
      upTo3(segment, offset, length);
    }
  }

  /** Returns the lower half of the hash that was computed last. */
  public long low() {
    return low;
  }

  /** Returns the upper half of the hash that was computed last. */
  public long high() {
    return high;
  }

  private void upTo3(MemorySegment in, long at, long length) {
    if (length == 0) {
      low = avalanche64(secret(64) ^ secret(72));
      high = avalanche64(secret(80) ^ secret(88));
      return;
    }
    int combined = (int) Xxh3.combined(Loads.CHECKED, in, at, length);
    int turned = Integer.rotateLeft(Integer.reverseBytes(combined), 13);
    low = avalanche64(Integer.toUnsignedLong(combined ^ halves(0)));
    high = avalanche64(Integer.toUnsignedLong(turned ^ halves(8)));
  }

  /** Two neighbouring four bytes of the secret in one. */
  private static int halves(int at) {
    return (int) (secret(at) ^ secret(at) >>> 32);
  }

  private void upTo8(MemorySegment in, long at, long length) {
    long word =
        Loads.CHECKED.half(in, at) + (Loads.CHECKED.half(in, at + length - 4) << 32)
            ^ secret(16)
            ^ secret(24);
    long factor = PRIME64_1 + (length << 2);
    long l = word * factor;
    long h = Math.unsignedMultiplyHigh(word, factor) + (l << 1);
    l ^= h >>> 3;
    l = (l ^ l >>> 35) * PRIME_MX2;
    low = l ^ l >>> 28;
    high = avalanche(h);
  }

  private void upTo16(MemorySegment in, long at, long length) {
    long first = Loads.CHECKED.word(in, at);
    long last = Loads.CHECKED.word(in, at + length - 8);
    long mixed = first ^ last ^ secret(32) ^ secret(40);
    long flipped = last ^ secret(48) ^ secret(56);
    long l = mixed * PRIME64_1 + (length - 1 << 54);
    long h =
        Math.unsignedMultiplyHigh(mixed, PRIME64_1)
            + flipped
            + (flipped & 0xFFFF_FFFFL) * (PRIME32_2 - 1);
    l ^= Long.reverseBytes(h);
    low = avalanche(l * PRIME64_2);
    high = avalanche(Math.unsignedMultiplyHigh(l, PRIME64_2) + h * PRIME64_2);
  }

  private void upTo128(MemorySegment in, long at, long length) {
    long end = at + length;
    low = length * PRIME64_1;
    high = 0;
    if (length > 96) {
      mixBoth(in, at + 48, end - 64, 96);
    }
    if (length > 64) {
      mixBoth(in, at + 32, end - 48, 64);
    }
    if (length > 32) {
      mixBoth(in, at + 16, end - 32, 32);
    }
    mixBoth(in, at, end - 16, 0);
    finish(length);
  }

  private void upTo240(MemorySegment in, long at, long length) {
    low = length * PRIME64_1;
    high = 0;
    for (int i = 0; i < 128; i += 32) {
      mixBoth(in, at + i, at + i + 16, i);
    }
    low = avalanche(low);
    high = avalanche(high);
    for (int i = 128; i + 32 <= length; i += 32) {
      mixBoth(in, at + i, at + i + 16, i - 128 + Xxh3.SECRET_START);
    }
    mixBoth(in, at + length - 16, at + length - 32, Xxh3.SECRET_LAST - 16);
    finish(length);
  }

  /** Mixes sixteen bytes at each of two places into both halves. */
  private void mixBoth(MemorySegment in, long one, long other, int secretAt) {
    low += mix(Loads.CHECKED, in, one, secretAt, 0);
    low ^= Loads.CHECKED.word(in, other) + Loads.CHECKED.word(in, other + 8);
    high += mix(Loads.CHECKED, in, other, secretAt + 16, 0);
    high ^= Loads.CHECKED.word(in, one) + Loads.CHECKED.word(in, one + 8);
  }

  private void finish(long length) {
    long sum = low + high;
    high = -avalanche(low * PRIME64_1 + high * PRIME64_4 + length * PRIME64_2);
    low = avalanche(sum);
  }
}
