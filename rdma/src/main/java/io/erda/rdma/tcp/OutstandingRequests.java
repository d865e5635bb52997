package io.erda.rdma.tcp;

import io.erda.rdma.Flags;
import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.lang.foreign.MemorySegment;

/**
 * Outstanding requests, which end in the order in which they were posted, and the handling of the
 * other end's answers. One thread; preallocated.
 */
final class OutstandingRequests {
  private final long[] ids;
  private final TcpRegion[] regions;
  private final long[] offsets;
  private final int[] lengths;

  /** By request: the opcode in the low 8 bits, and the flags above it. */
  private final int[] kinds;

  private final int mask;
  private final TcpCompletions completions;
  private long posted;
  private long ended;

  private boolean newestIsPartial;

  /** How many bytes of the oldest request's data have arrived. */
  private int arrived;

  /**
   * @param capacity a power of two
   * @param completions receives the requests that failed, or are signaled
   */
  OutstandingRequests(int capacity, TcpCompletions completions) {
    this.completions = completions;
    ids = new long[capacity];
    regions = new TcpRegion[capacity];
    offsets = new long[capacity];
    lengths = new int[capacity];
    kinds = new int[capacity];
    mask = capacity - 1;
  }

  /**
   * @param local the local memory of the work; null when it uses none
   */
  void add(Work work, TcpRegion local) {
    assert count() <= mask : "a request that has not ended would be lost";
    int at = (int) posted & mask;
    ids[at] = work.wrId;
    regions[at] = local;
    offsets[at] = work.localOffset;
    lengths[at] = work.length;
    kinds[at] = work.opcode | work.flags << 8;
    posted++;
  }

  int count() {
    return (int) (posted - ended);
  }

  private int opcode() {
    return kinds[(int) ended & mask] & 0xff;
  }

  private boolean owesData() {
    return opcode() == Opcode.READ || opcode() == Opcode.COMPARE_AND_SWAP;
  }

  /** Ends the oldest request. */
  private void end(int status) {
    assert ended < posted : "request " + ended + " ends and was not posted";
    int at = (int) ended & mask;
    if (status != Status.SUCCESS || (kinds[at] >>> 8 & Flags.SIGNALED) != 0) {
      int length = status == Status.SUCCESS ? lengths[at] : 0;
      completions.add(ids[at], opcode(), status, length, 0);
    }
    regions[at] = null;
    ended++;
    arrived = 0;
  }

  /**
   * Ends all requests up to number {@code last} with success. Returns false when that violates the
   * protocol, because one of them was not posted, was not sent completely, or still waits for data.
   */
  boolean succeed(long last) {
    if (last < ended || last > sentWhole()) {
      return false;
    }
    while (ended < last) {
      if (owesData()) {
        return false;
      }
      end(Status.SUCCESS);
    }
    return true;
  }

  /**
   * Ends request number {@code last} with an error, and all earlier requests with success. Returns
   * false as {@link #succeed}.
   */
  boolean fail(long last, int status) {
    if (last <= ended || last > sentWhole() || !succeed(last - 1)) {
      return false;
    }
    end(status);
    return true;
  }

  /** Ends all requests with an error. */
  void failAll(int status) {
    while (ended < posted) {
      end(status);
    }
  }

  /**
   * Takes data of the oldest requests that wait for data, one after the other, each padded to a
   * multiple of 8 bytes, and ends all requests up to number {@code last} with success. Returns
   * false when that violates the protocol.
   *
   * @param complete whether the payload ends with the last data of request {@code last}; otherwise
   *     it ends with some data of the request after it
   */
  boolean deliver(long last, MemorySegment from, long at, int bytes, boolean complete) {
    if (last < ended || last > sentWhole() || complete && last == ended) {
      return false;
    }
    int taken = 0;
    int next = 0;
    while (ended < last) {
      if (owesData()) {
        int left = lengths[(int) ended & mask] - arrived;
        if (left > bytes - next) {
          return false;
        }
        take(from, at + next, left);
        taken = next + left;
        next = Frame.padded(taken);
      } else if (complete && ended == last - 1) {
        return false;
      }
      end(Status.SUCCESS);
    }
    if (complete) {
      return taken == bytes;
    }
    int rest = bytes - next;
    if (rest < 0 || ended == sentWhole() || !owesData()) {
      return false;
    }
    if (rest >= lengths[(int) ended & mask] - arrived) {
      return false;
    }
    take(from, at + next, rest);
    return true;
  }

  /** Takes data of the oldest request. */
  private void take(MemorySegment from, long at, int bytes) {
    int oldest = (int) ended & mask;
    MemorySegment.copy(from, at, regions[oldest].memory(), offsets[oldest] + arrived, bytes);
    arrived += bytes;
  }

  /** Returns the number of the last request of which every byte was sent. */
  private long sentWhole() {
    return newestIsPartial ? posted - 1 : posted;
  }

  /** Sets whether the newest request was not sent completely yet. */
  void newestIsPartial(boolean partial) {
    newestIsPartial = partial;
  }
}
