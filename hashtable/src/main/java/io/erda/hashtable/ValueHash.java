package io.erda.hashtable;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import net.openhft.hashing.LongTupleHashFunction;

/**
 * The 128-bit hash of values, by which a client names the value that it expects a key to have: XXH3
 * of the Zero-Allocation-Hashing library, without a seed, since a client builds its request before
 * it knows the store. Part of the protocol: the same bytes give the same hash on every platform,
 * heap or native. Two values of one length and one hash count as equal; by chance that happens once
 * in 2<sup>128</sup> pairs. One thread; allocates nothing after its construction.
 */
public final class ValueHash {
  private static final LongTupleHashFunction FUNCTION = LongTupleHashFunction.xx128();

  private final long[] result = new long[2];

  /**
   * Computes the hash of {@code length} bytes of {@code segment} at {@code offset}, for {@link
   * #low} and {@link #high}.
   *
   * @throws IndexOutOfBoundsException when the bytes are not all in the segment
   */
  public void compute(MemorySegment segment, long offset, long length) {
    Objects.checkFromIndexSize(offset, length, segment.byteSize());
    FUNCTION.hash(segment, SegmentAccess.INSTANCE, offset, length, result);
  }

  /** The lower half of what was computed last. */
  public long low() {
    return result[0];
  }

  /** The upper half of what was computed last. */
  public long high() {
    return result[1];
  }
}
