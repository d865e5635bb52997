package io.erda.hashtable;

import static io.erda.pmem.UncheckedMemory.ALL;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import net.openhft.hashing.Access;
import net.openhft.hashing.LongHashFunction;

/**
 * The 64-bit hash of keys, seeded per store: XXH3 of the Zero-Allocation-Hashing library over
 * {@link MemorySegment}. Part of the byte format: the same bytes and seed give the same hash on
 * every platform, heap or native. Immutable, thread-safe.
 */
public final class KeyHash {
  private final LongHashFunction function;

  public KeyHash(long seed) {
    function = LongHashFunction.xx3(seed);
  }

  /**
   * Hash of {@code length} bytes of {@code segment} (heap or native) at {@code offset}. Allocates
   * nothing.
   *
   * @throws IndexOutOfBoundsException when the bytes are not all in the segment
   */
  public long of(MemorySegment segment, long offset, long length) {
    Objects.checkFromIndexSize(offset, length, segment.byteSize());
    return function.hash(segment, SegmentAccess.INSTANCE, offset, length);
  }

  /**
   * The same of native bytes by address, for a key in memory that the caller owns: two thirds of
   * the instructions. REQUIRES: the bytes are there and stay there; nothing is checked.
   */
  public long ofNative(long address, int length) {
    return function.hash(null, AddressAccess.INSTANCE, address, length);
  }

  /**
   * Loads by address; {@link #ofNative} says what its caller owes.
   *
   * @see io.erda.pmem.UncheckedMemory
   */
  private static final class AddressAccess extends Access<Object> {
    static final AddressAccess INSTANCE = new AddressAccess();

    @Override
    public long getLong(Object input, long offset) {
      return ALL.get(SegmentAccess.LONG, offset);
    }

    @Override
    public long getUnsignedInt(Object input, long offset) {
      return ALL.get(SegmentAccess.INT, offset) & 0xFFFF_FFFFL;
    }

    @Override
    public int getInt(Object input, long offset) {
      return ALL.get(SegmentAccess.INT, offset);
    }

    @Override
    public int getUnsignedShort(Object input, long offset) {
      return ALL.get(SegmentAccess.SHORT, offset) & 0xFFFF;
    }

    @Override
    public int getShort(Object input, long offset) {
      return ALL.get(SegmentAccess.SHORT, offset);
    }

    @Override
    public int getUnsignedByte(Object input, long offset) {
      return ALL.get(ValueLayout.JAVA_BYTE, offset) & 0xFF;
    }

    @Override
    public int getByte(Object input, long offset) {
      return ALL.get(ValueLayout.JAVA_BYTE, offset);
    }

    @Override
    public ByteOrder byteOrder(Object input) {
      return ByteOrder.LITTLE_ENDIAN;
    }

    @Override
    protected Access<Object> reverseAccess() {
      throw new UnsupportedOperationException("keys are hashed little-endian");
    }
  }
}
