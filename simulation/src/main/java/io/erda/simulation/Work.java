package io.erda.simulation;

import io.erda.rdma.Flags;
import io.erda.rdma.Opcode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** One piece of posted work on its way. */
final class Work {
  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

  final long wrId;
  final int opcode;
  final int flags;

  /** Local memory: the source of stores, the destination of loads; null where the work has none. */
  MemorySegment local;

  long localOffset;
  final long remoteKey;
  final long remoteOffset;
  final int length;
  int imm;
  long expected;
  long value;

  /** Takes no effect any more. */
  boolean stopped;

  /** Parts of it were lost on the way: it is never followed by a message. */
  boolean torn;

  /** Which pieces of torn work still arrive, as bits. */
  int kept = -1;

  /** Its poster never hears of it. */
  boolean mute;

  /** It was on the way already when the connection was cut. */
  boolean mayArriveYet;

  /** Its number, of a message. */
  long message;

  boolean ready;
  boolean done;
  int status;

  SimulatedRegion region;
  int pieces;

  /** Bits of the pieces that have not landed (or been fetched) and are not lost. */
  int left;

  private int mode;
  private int salt;

  Work(
      long wrId,
      int opcode,
      MemorySegment local,
      long localOffset,
      long remoteKey,
      long remoteOffset,
      int length,
      int flags) {
    this.wrId = wrId;
    this.opcode = opcode;
    this.local = local;
    this.localOffset = localOffset;
    this.remoteKey = remoteKey;
    this.remoteOffset = remoteOffset;
    this.length = length;
    this.flags = flags;
  }

  boolean isSignaled() {
    return (flags & Flags.SIGNALED) != 0;
  }

  boolean isFenced() {
    return (flags & Flags.FENCE) != 0;
  }

  boolean isStore() {
    return opcode == Opcode.WRITE || opcode == Opcode.WRITE_IMM;
  }

  boolean isMessage() {
    return opcode == Opcode.SEND || opcode == Opcode.WRITE_IMM;
  }

  boolean isNonPosted() {
    return !isStore() && opcode != Opcode.SEND;
  }

  /** The memory it stores from may be reused from now on: keep what it held. */
  void capture() {
    if (local != null && !isNonPosted()) {
      byte[] copy = new byte[length];
      MemorySegment.copy(local, BYTE, localOffset, copy, 0, length);
      local = MemorySegment.ofArray(copy);
      localOffset = 0;
    }
  }

  /**
   * Cuts it into pieces; which word goes with which is the seed's: by words, by cache lines, or by
   * runs.
   */
  void cut(int count, int seed) {
    pieces = count;
    left = ((1 << count) - 1) & kept;
    mode = (seed >>> 8) % 3;
    salt = seed;
  }

  private int pieceOf(int word, int words) {
    if (pieces == 1) {
      return 0;
    }
    return switch (mode) {
      case 0 -> Integer.remainderUnsigned(mix(word), pieces);
      case 1 -> Integer.remainderUnsigned(mix(word >>> 3), pieces);
      default -> (int) ((long) word * pieces / words);
    };
  }

  private int mix(int word) {
    int h = (word + salt) * 0x9E3779B9;
    h ^= h >>> 15;
    h *= 0x85EBCA6B;
    return h ^ (h >>> 13);
  }

  /**
   * Moves the words of one piece, to or from the region. Returns the bytes that changed in the
   * region.
   */
  int move(int piece) {
    left &= ~(1 << piece);
    int phase = region.phase(remoteOffset);
    int words = length == 0 ? 0 : (phase + length + 7) >>> 3;
    int changed = 0;
    for (int word = 0; word < words; word++) {
      if (pieceOf(word, words) == piece) {
        int from = Math.max(0, (word << 3) - phase);
        if (isStore()) {
          changed += store(from, Math.min(length, (word << 3) + 8 - phase), (word << 3) - phase);
        } else {
          while (word + 1 < words && pieceOf(word + 1, words) == piece) {
            word++;
          }
          load(from, Math.min(length, (word << 3) + 8 - phase));
        }
      }
    }
    return changed;
  }

  private void load(int from, int to) {
    long source = region.base + remoteOffset + from;
    if (to - from == 8) {
      local.set(WORD, localOffset + from, region.target.get(WORD, source));
    } else {
      MemorySegment.copy(region.target, source, local, localOffset + from, to - from);
    }
  }

  private int store(int from, int to, int wordStart) {
    long value = 0;
    long mask = 0;
    if (to - from == 8) {
      value = local.get(WORD, localOffset + from);
      mask = -1;
    } else {
      for (int i = from; i < to; i++) {
        int shift = (i - wordStart) << 3;
        value |= (local.get(BYTE, localOffset + i) & 0xffL) << shift;
        mask |= 0xffL << shift;
      }
    }
    return storeWord(region, region.base + remoteOffset + wordStart, value, mask);
  }

  /**
   * Stores the masked bytes of an aligned word of a region's memory as a NIC does. Returns how many
   * bytes changed.
   */
  static int storeWord(SimulatedRegion region, long at, long value, long mask) {
    if (region.file != null) {
      int word = (int) (at >>> 3);
      int changed = bytesSet((region.target.get(SimulatedFile.WORD, at) ^ value) & mask);
      SimulatedMemory.landNicStore(region.file, word, value, mask);
      return changed;
    }
    int changed = 0;
    for (int i = 0; i < 8; i++) {
      if ((mask >>> (i << 3) & 0xff) != 0) {
        byte now = (byte) (value >>> (i << 3));
        changed += region.target.get(BYTE, at + i) != now ? 1 : 0;
        region.target.set(BYTE, at + i, now);
      }
    }
    return changed;
  }

  private static int bytesSet(long difference) {
    int count = 0;
    for (long bits = difference; bits != 0; bits >>>= 8) {
      count += (bits & 0xff) != 0 ? 1 : 0;
    }
    return count;
  }

  boolean overlaps(Work other) {
    return region == other.region
        && remoteOffset - 7 < other.remoteOffset + other.length
        && other.remoteOffset - 7 < remoteOffset + length;
  }
}
