package io.erda.rdma.tcp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Posted receive buffers, and messages that came before a buffer was posted for them, up to the
 * other end's window. One thread; allocates only for early messages.
 */
final class TcpReceives {
  static final int CAPACITY = 1024;
  private static final int MASK = CAPACITY - 1;

  private final long[] ids = new long[CAPACITY];
  private final TcpRegion[] regions = new TcpRegion[CAPACITY];
  private final long[] offsets = new long[CAPACITY];
  private final int[] lengths = new int[CAPACITY];
  private int head;
  private int tail;

  /** Early messages, each behind its length in 8 bytes; null while there never was one. */
  private MemorySegment early;

  private int earlyFrom;
  private int earlyTo;

  boolean isEmpty() {
    return head == tail;
  }

  boolean isFull() {
    return tail - head > MASK;
  }

  void add(long wrId, TcpRegion region, long offset, int length) {
    assert !isFull() : "a posted receive would be lost";
    int at = tail & MASK;
    ids[at] = wrId;
    regions[at] = region;
    offsets[at] = offset;
    lengths[at] = length;
    tail++;
  }

  long wrId() {
    return ids[head & MASK];
  }

  TcpRegion region() {
    return regions[head & MASK];
  }

  long offset() {
    return offsets[head & MASK];
  }

  int length() {
    return lengths[head & MASK];
  }

  void remove() {
    assert !isEmpty() : "no receive is posted";
    regions[head & MASK] = null;
    head++;
  }

  boolean hasEarly() {
    return earlyTo > earlyFrom;
  }

  /** Keeps a message that came early. Returns false when it exceeds the window. */
  boolean keep(MemorySegment source, long at, int length) {
    int bytes = Frame.MESSAGE_OVERHEAD + Frame.padded(length);
    if (early == null) {
      early = Arena.ofAuto().allocate(Frame.WINDOW_BYTES, 8);
    }
    if (bytes > Frame.WINDOW_BYTES - earlyTo) {
      MemorySegment.copy(early, earlyFrom, early, 0, earlyTo - earlyFrom);
      earlyTo -= earlyFrom;
      earlyFrom = 0;
    }
    if (bytes > Frame.WINDOW_BYTES - earlyTo) {
      return false;
    }
    Frame.putLong(early, earlyTo, length);
    MemorySegment.copy(source, at, early, earlyTo + Frame.MESSAGE_OVERHEAD, length);
    earlyTo += bytes;
    return true;
  }

  MemorySegment early() {
    return early;
  }

  int earlyLength() {
    return (int) Frame.getLong(early, earlyFrom);
  }

  long earlyAt() {
    return (long) earlyFrom + Frame.MESSAGE_OVERHEAD;
  }

  void removeEarly() {
    earlyFrom += Frame.MESSAGE_OVERHEAD + Frame.padded(earlyLength());
    assert earlyFrom <= earlyTo : "early messages from " + earlyFrom + " to " + earlyTo;
    if (earlyFrom == earlyTo) {
      earlyFrom = 0;
      earlyTo = 0;
    }
  }
}
