package io.erda.pmem;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Copies bytes so that no 8-aligned word of the destination that lies whole in the range is seen
 * torn, if the source is native memory and agrees with the destination mod 8. No store crosses
 * pages ({@link PageCopy}).
 *
 * <p>{@link MemorySegment#copy} alone does not guarantee that: it moves 8-byte pieces from the
 * start of the range, wherever that is, below 64 bytes, and units as small as one byte above,
 * unless addresses and length are multiples of 8 (then {@code Unsafe.copyMemory} promises long
 * units, and the pieces are aligned). So a range is cut into at most 7 bytes of head, an aligned
 * body, and at most 7 bytes of tail. Nothing is promised for other sources, which are copied in one
 * call: word by word would be six times slower.
 */
final class WordCopy {
  private WordCopy() {}

  /** Both ranges are checked before the first store. Source and destination do not overlap. */
  static void copy(MemorySegment source, long from, MemorySegment target, long to, long length) {
    long origin = source.address() + from;
    long address = target.address() + to;
    boolean aligned = ((origin | address | length) & 7) == 0;
    if (aligned || (origin - address & 7) != 0 || !source.isNative()) {
      PageCopy.copy(source, from, target, to, length);
    } else {
      Objects.checkFromIndexSize(from, length, source.byteSize());
      Objects.checkFromIndexSize(to, length, target.byteSize());
      pieces(source, from, target, to, length, Math.min(-address & 7, length));
    }
  }

  private static void pieces(
      MemorySegment source, long from, MemorySegment target, long to, long length, long head) {
    long tail = length - head & 7;
    long body = length - head - tail;
    assert body == 0 || ((target.address() + to + head | source.address() + from + head) & 7) == 0
        : "the words begin " + head + " bytes behind " + (target.address() + to);
    if (head > 0) {
      PageCopy.copy(source, from, target, to, head);
    }
    if (body > 0) {
      PageCopy.copy(source, from + head, target, to + head, body);
    }
    if (tail > 0) {
      PageCopy.copy(source, from + head + body, target, to + head + body, tail);
    }
  }
}
