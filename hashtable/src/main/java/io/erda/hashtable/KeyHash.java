package io.erda.hashtable;

import static io.erda.hashtable.Xxh3.PRIME64_1;
import static io.erda.hashtable.Xxh3.PRIME_MX2;
import static io.erda.hashtable.Xxh3.mix;
import static io.erda.hashtable.Xxh3.secret;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * The 64-bit hash of keys, XXH3 over a {@link MemorySegment}, with a seed for each store. It is
 * part of the byte format: the same bytes and seed give the same hash on every platform, on the
 * heap and in native memory. Immutable, thread-safe.
 */
public final class KeyHash implements KeyHashing {
  private final long seed;
  private final byte[] secret;

  public KeyHash(long seed) {
    this.seed = seed;
    secret = Xxh3.secretOf(seed);
  }

  /**
   * Returns the hash of {@code length} bytes of {@code segment} (heap or native) at {@code offset}.
   * Allocates nothing.
   *
   * @throws IndexOutOfBoundsException when the bytes are not all in the segment
   */
  @Override
  public long of(MemorySegment segment, long offset, long length) {
    Objects.checkFromIndexSize(offset, length, segment.byteSize());
    return hash(Loads.CHECKED, segment, offset, length);
  }

  /**
   * Returns the hash of native bytes by their address, for a key in memory that the caller owns.
   * This takes two thirds of the instructions. REQUIRES: the memory is valid during the call;
   * nothing is checked.
   */
  public long ofNative(long address, int length) {
    return hash(Loads.UNCHECKED, null, address, length);
  }

  private long hash(Loads loads, MemorySegment in, long at, long length) {
    if (length <= 16) {
      return length > 8
          ? upTo16(loads, in, at, length)
          : length >= 4 ? upTo8(loads, in, at, length) : upTo3(loads, in, at, length);
    }
    if (length <= 128) {
      return upTo128(loads, in, at, length);
    }
    return length <= Xxh3.SHORT_MAX
        ? upTo240(loads, in, at, length)
        : Xxh3.ofLong(loads, in, at, length, secret, null);
  }

  private long upTo3(Loads loads, MemorySegment in, long at, long length) {
    if (length == 0) {
      return Xxh3.avalanche64(seed ^ secret(56) ^ secret(64));
    }
    long flip = ((secret(0) ^ secret(0) >>> 32) & 0xFFFF_FFFFL) + seed;
    return Xxh3.avalanche64(Xxh3.combined(loads, in, at, length) ^ flip);
  }

  private long upTo8(Loads loads, MemorySegment in, long at, long length) {
    long spread = seed ^ (long) Integer.reverseBytes((int) seed) << 32;
    long flip = (secret(8) ^ secret(16)) - spread;
    long h = loads.half(in, at + length - 4) + (loads.half(in, at) << 32) ^ flip;
    h = (h ^ Long.rotateLeft(h, 49) ^ Long.rotateLeft(h, 24)) * PRIME_MX2;
    h = (h ^ (h >>> 35) + length) * PRIME_MX2;
    return h ^ h >>> 28;
  }

  private long upTo16(Loads loads, MemorySegment in, long at, long length) {
    long low = loads.word(in, at) ^ (secret(24) ^ secret(32)) + seed;
    long high = loads.word(in, at + length - 8) ^ (secret(40) ^ secret(48)) - seed;
    return Xxh3.avalanche(length + Long.reverseBytes(low) + high + Xxh3.fold(low, high));
  }

  private long upTo128(Loads loads, MemorySegment in, long at, long length) {
    long end = at + length;
    long h = length * PRIME64_1;
    if (length > 32) {
      if (length > 64) {
        if (length > 96) {
          h += mix(loads, in, at + 48, 96, seed) + mix(loads, in, end - 64, 112, seed);
        }
        h += mix(loads, in, at + 32, 64, seed) + mix(loads, in, end - 48, 80, seed);
      }
      h += mix(loads, in, at + 16, 32, seed) + mix(loads, in, end - 32, 48, seed);
    }
    return Xxh3.avalanche(h + mix(loads, in, at, 0, seed) + mix(loads, in, end - 16, 16, seed));
  }

  private long upTo240(Loads loads, MemorySegment in, long at, long length) {
    long h = length * PRIME64_1;
    for (int i = 0; i < 128; i += 16) {
      h += mix(loads, in, at + i, i, seed);
    }
    h = Xxh3.avalanche(h);
    for (int i = 128; i + 16 <= length; i += 16) {
      h += mix(loads, in, at + i, i - 128 + Xxh3.SECRET_START, seed);
    }
    return Xxh3.avalanche(h + mix(loads, in, at + length - 16, Xxh3.SECRET_LAST, seed));
  }
}
