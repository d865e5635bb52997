package io.erda.simulation;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** The effects of one-sided work on the region that it reaches, and on its poster's memory. */
final class OneSidedEffects {
  private static final ValueLayout.OfLong LOCAL_WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

  private OneSidedEffects() {}

  /**
   * Moves the words of one piece of a READ or WRITE. Returns how many bytes changed in the region.
   */
  static int move(PostedWork work, int piece) {
    Pieces pieces = work.pieces();
    pieces.moved(piece);
    int length = work.length;
    int phase = work.region.phase(work.remoteOffset);
    int words = length == 0 ? 0 : (phase + length + 7) >>> 3;
    int changed = 0;
    for (int word = 0; word < words; word++) {
      if (pieces.pieceOf(word, words) == piece) {
        int from = Math.max(0, (word << 3) - phase);
        if (work.isStore()) {
          int to = Math.min(length, (word << 3) + 8 - phase);
          changed += store(work, from, to, (word << 3) - phase);
        } else {
          while (word + 1 < words && pieces.pieceOf(word + 1, words) == piece) {
            word++;
          }
          load(work, from, Math.min(length, (word << 3) + 8 - phase));
        }
      }
    }
    return changed;
  }

  private static void load(PostedWork work, int from, int to) {
    MemorySegment target = work.region.target;
    long source = work.region.base + work.remoteOffset + from;
    if (to - from == 8) {
      work.local().set(LOCAL_WORD, work.localOffset() + from, target.get(LOCAL_WORD, source));
    } else {
      MemorySegment.copy(target, source, work.local(), work.localOffset() + from, to - from);
    }
  }

  private static int store(PostedWork work, int from, int to, int wordStart) {
    long value = 0;
    long mask = 0;
    if (to - from == 8) {
      value = work.local().get(LOCAL_WORD, work.localOffset() + from);
      mask = -1;
    } else {
      for (int i = from; i < to; i++) {
        int shift = (i - wordStart) << 3;
        value |= (work.local().get(BYTE, work.localOffset() + i) & 0xffL) << shift;
        mask |= 0xffL << shift;
      }
    }
    long at = work.region.base + work.remoteOffset + wordStart;
    return work.region.storeWord(at, value, mask);
  }

  /** Stores the word of an ATOMIC_WRITE. Returns how many bytes changed. */
  static int storeWord(PostedWork work) {
    return work.region.storeWord(work.region.base + work.remoteOffset, work.value, -1);
  }

  /** Loads the word of a COMPARE_AND_SWAP. */
  static long loadWord(PostedWork work) {
    return work.region.target.get(SimulatedFile.WORD, work.region.base + work.remoteOffset);
  }

  /** Stores the previous word into the memory of a COMPARE_AND_SWAP's poster. */
  static void returnWord(PostedWork work, long was) {
    work.local().set(LOCAL_WORD, work.localOffset(), was);
  }

  /** Does a FLUSH. With DDIO it ends in the cache, which may not be durable. */
  static void flush(PostedWork work, boolean ddio) {
    SimulatedFile file = work.region.file;
    if (file != null && !ddio && file.disk.domain() == PersistenceDomain.MEMORY_CONTROLLER) {
      file.settle(work.region.base + work.remoteOffset, work.length);
    }
  }
}
