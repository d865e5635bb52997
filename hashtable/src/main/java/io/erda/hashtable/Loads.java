package io.erda.hashtable;

import static io.erda.pmem.UncheckedMemory.ALL;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Loads the bytes that are hashed, little-endian and at any alignment. */
abstract sealed class Loads {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Every load is checked for bounds, thread and liveness by the segment. */
  static final Loads CHECKED = new Checked();

  /**
   * Loads by absolute address and ignores the segment; nothing is checked.
   *
   * @see io.erda.pmem.UncheckedMemory
   */
  static final Loads UNCHECKED = new Unchecked();

  /** Eight bytes. */
  abstract long word(MemorySegment segment, long at);

  /** Four bytes, without a sign. */
  abstract long half(MemorySegment segment, long at);

  /** One byte, without a sign. */
  abstract int octet(MemorySegment segment, long at);

  private static final class Checked extends Loads {
    @Override
    long word(MemorySegment segment, long at) {
      return segment.get(LONG, at);
    }

    @Override
    long half(MemorySegment segment, long at) {
      return segment.get(INT, at) & 0xFFFF_FFFFL;
    }

    @Override
    int octet(MemorySegment segment, long at) {
      return segment.get(ValueLayout.JAVA_BYTE, at) & 0xFF;
    }
  }

  private static final class Unchecked extends Loads {
    @Override
    long word(MemorySegment segment, long at) {
      return ALL.get(LONG, at);
    }

    @Override
    long half(MemorySegment segment, long at) {
      return ALL.get(INT, at) & 0xFFFF_FFFFL;
    }

    @Override
    int octet(MemorySegment segment, long at) {
      return ALL.get(ValueLayout.JAVA_BYTE, at) & 0xFF;
    }
  }
}
