package io.erda.hashtable;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import net.openhft.hashing.Access;

/**
 * Loads for the library. Always little-endian, so the library never asks for the reverse. Every
 * load is checked for bounds, thread and liveness by the segment; the library's own way to native
 * memory, by address, is not, and a segment that another thread closes meanwhile would crash the
 * JVM.
 */
final class SegmentAccess extends Access<MemorySegment> {
  static final SegmentAccess INSTANCE = new SegmentAccess();

  static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  @Override
  public long getLong(MemorySegment input, long offset) {
    return input.get(LONG, offset);
  }

  @Override
  public long getUnsignedInt(MemorySegment input, long offset) {
    return input.get(INT, offset) & 0xFFFF_FFFFL;
  }

  @Override
  public int getInt(MemorySegment input, long offset) {
    return input.get(INT, offset);
  }

  @Override
  public int getUnsignedShort(MemorySegment input, long offset) {
    return input.get(SHORT, offset) & 0xFFFF;
  }

  @Override
  public int getShort(MemorySegment input, long offset) {
    return input.get(SHORT, offset);
  }

  @Override
  public int getUnsignedByte(MemorySegment input, long offset) {
    return input.get(ValueLayout.JAVA_BYTE, offset) & 0xFF;
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
