package io.erda.launcher.commands;

import io.erda.hashtable.KeyHashing;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import net.openhft.hashing.Access;
import net.openhft.hashing.LongHashFunction;

/**
 * The hash of keys as the library Zero-Allocation-Hashing computes it. A store computes it with its
 * own code, and verification compares with this one, so that an error of one of them is noticed.
 */
final class LibraryHash implements KeyHashing {
  private final LongHashFunction function;

  LibraryHash(long seed) {
    function = LongHashFunction.xx3(seed);
  }

  @Override
  public long of(MemorySegment segment, long offset, long length) {
    Objects.checkFromIndexSize(offset, length, segment.byteSize());
    return function.hash(segment, Loads.INSTANCE, offset, length);
  }

  /** Little-endian loads, bounds-checked by the segment. */
  private static final class Loads extends Access<MemorySegment> {
    private static final Loads INSTANCE = new Loads();

    private static final ValueLayout.OfLong LONG =
        ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT =
        ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORT =
        ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    @Override
    public long getLong(MemorySegment input, long offset) {
      return input.get(LONG, offset);
    }

    @Override
    public long getUnsignedInt(MemorySegment input, long offset) {
      return Integer.toUnsignedLong(getInt(input, offset));
    }

    @Override
    public int getInt(MemorySegment input, long offset) {
      return input.get(INT, offset);
    }

    @Override
    public int getUnsignedShort(MemorySegment input, long offset) {
      return Short.toUnsignedInt(input.get(SHORT, offset));
    }

    @Override
    public int getShort(MemorySegment input, long offset) {
      return input.get(SHORT, offset);
    }

    @Override
    public int getUnsignedByte(MemorySegment input, long offset) {
      return Byte.toUnsignedInt(input.get(ValueLayout.JAVA_BYTE, offset));
    }

    @Override
    public int getByte(MemorySegment input, long offset) {
      return input.get(ValueLayout.JAVA_BYTE, offset);
    }

    @Override
    public ByteOrder byteOrder(MemorySegment input) {
      return ByteOrder.LITTLE_ENDIAN;
    }

    @Override
    protected Access<MemorySegment> reverseAccess() {
      throw new UnsupportedOperationException("bytes are hashed little-endian");
    }
  }
}
