package io.erda.rdma.tcp;

import io.erda.rdma.Work;
import java.lang.foreign.MemorySegment;

/** A WRITE that is sent frame by frame, as there is room. Reused for later WRITEs. One thread. */
final class PartialWrite {
  /** The local memory; null when no WRITE is under way. */
  private TcpRegion from;

  private long offset;
  private long key;
  private long to;
  private int left;
  private int total;
  private int imm;
  private int flags;

  /**
   * @param lastFlags the flags of the last frame; all other frames have the flag MORE
   */
  void begin(TcpRegion local, Work work, int lastFlags) {
    assert isOut() : left + " bytes of the WRITE before are not out";
    from = local;
    offset = work.localOffset;
    key = work.remoteKey;
    to = work.remoteOffset;
    left = work.length;
    total = work.length;
    imm = work.imm;
    flags = lastFlags;
  }

  boolean isOut() {
    return from == null;
  }

  /** Gives up the rest of the WRITE. */
  void end() {
    from = null;
  }

  /** Data of the next frame. */
  int nextBytes() {
    return Math.min(left, Frame.DATA_BYTES_MAX);
  }

  /** Puts the payload of the next frame. Returns its flags. */
  int putNext(MemorySegment memory, long at) {
    int bytes = nextBytes();
    Frame.putLong(memory, at + Frame.KEY, key);
    Frame.putLong(memory, at + Frame.OFFSET, to);
    Frame.putInt(memory, at + Frame.WRITE_IMM, imm);
    Frame.putInt(memory, at + Frame.WRITE_TOTAL, total);
    MemorySegment.copy(from.memory(), offset, memory, at + Frame.WRITE_DATA, bytes);
    left -= bytes;
    offset += bytes;
    to += bytes;
    if (left > 0) {
      return flags | Frame.MORE;
    }
    end();
    return flags;
  }
}
