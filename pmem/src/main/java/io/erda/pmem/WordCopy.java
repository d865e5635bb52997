package io.erda.pmem;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * Copies bytes so that no 8-aligned word of the destination that lies whole in the range is ever seen torn.
 *
 * <p>{@link MemorySegment#copy} alone does not give that: it moves unaligned 8-byte pieces below 64 bytes, and units as small as one
 * byte above, unless both addresses and the length are multiples of 8 (then {@code Unsafe.copyMemory} promises long units, and the
 * short loop moves aligned longs). So a range is cut into at most 7 bytes of head, an aligned body, and at most 7 bytes of tail. A
 * body whose source is not congruent, or lies in a Java array (whose first element need not be 8-aligned), is stored word by word.
 */
final class WordCopy {
  private static final ValueLayout.OfLong LOAD = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final ValueLayout.OfLong STORE = ValueLayout.JAVA_LONG;
  private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

  private WordCopy() {}

  /** Both ranges are checked before the first store. Source and destination do not overlap. */
  static void copy(MemorySegment source, long from, MemorySegment target, long to, long length) {
    Objects.checkFromIndexSize(from, length, source.byteSize());
    Objects.checkFromIndexSize(to, length, target.byteSize());
    long address = target.address() + to;
    if (source.isNative() && ((source.address() + from | address | length) & 7) == 0) {
      MemorySegment.copy(source, from, target, to, length);
      return;
    }
    pieces(source, from, target, to, length, address);
  }

  private static void pieces(
      MemorySegment source, long from, MemorySegment target, long to, long length, long address) {
    long head = Math.min(-address & 7, length);
    bytes(source, from, target, to, head);
    long body = length - head & -8;
    if (source.isNative() && (source.address() + from - address & 7) == 0) {
      MemorySegment.copy(source, from + head, target, to + head, body);
    } else {
      words(source, from + head, target, to + head, body);
    }
    long done = head + body;
    bytes(source, from + done, target, to + done, length - done);
  }

  private static void words(
      MemorySegment source, long from, MemorySegment target, long to, long length) {
    for (long i = 0; i < length; i += 8) {
      target.set(STORE, to + i, source.get(LOAD, from + i));
    }
  }

  private static void bytes(
      MemorySegment source, long from, MemorySegment target, long to, long length) {
    for (long i = 0; i < length; i++) {
      target.set(BYTE, to + i, source.get(BYTE, from + i));
    }
  }
}
