package io.erda.rdma.tcp;

import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import java.lang.foreign.MemorySegment;

/**
 * Puts messages of the other end into posted receive buffers, and counts the consumed bytes. Their
 * number is sent to the other end, which opens its window. One thread.
 */
final class Inbox {
  /** The most consumed bytes about which the other end has not been told. */
  private static final int UNTOLD_BYTES_MAX = Frame.WINDOW_BYTES / 4;

  private final TcpReceives receives = new TcpReceives();
  private final TcpCompletions completions;
  private final int messageBytesMax;
  private final TcpCounters counters;
  private long consumed;
  private long told;

  /**
   * @param completions receives the arrivals of messages
   */
  Inbox(TcpCompletions completions, int messageBytesMax, TcpCounters counters) {
    this.completions = completions;
    this.messageBytesMax = messageBytesMax;
    this.counters = counters;
  }

  boolean isFull() {
    return receives.isFull()
        || completions.count() - completions.ofRequests() >= TcpReceives.CAPACITY;
  }

  /** Posts a buffer, which gets a message at once if one waits. */
  void post(long wrId, TcpRegion region, long offset, int length) {
    receives.add(wrId, region, offset, length);
    while (receives.hasEarly() && !receives.isEmpty()) {
      deliver(receives.early(), receives.earlyAt(), receives.earlyLength());
      receives.removeEarly();
    }
  }

  /** Takes a message. Returns false when it violates the protocol. */
  boolean take(MemorySegment memory, long at, int length) {
    if (length > messageBytesMax) {
      return false;
    }
    if (receives.isEmpty() || receives.hasEarly()) {
      return receives.keep(memory, at, length);
    }
    deliver(memory, at, length);
    return true;
  }

  private void deliver(MemorySegment memory, long at, int length) {
    int status = Status.SUCCESS;
    if (length > receives.length()) {
      status = Status.LENGTH;
    } else {
      MemorySegment.copy(memory, at, receives.region().memory(), receives.offset(), length);
    }
    completions.add(receives.wrId(), Opcode.RECEIVE, status, length, 0);
    receives.remove();
    consumed += Window.bytes(length);
    counters.receive();
  }

  /** Reports all buffers that were posted as flushed. */
  void flush() {
    while (!receives.isEmpty()) {
      completions.add(receives.wrId(), Opcode.RECEIVE, Status.FLUSHED, 0, 0);
      receives.remove();
    }
  }

  /** Returns the total of consumed bytes, for the header of a frame that is sent now. */
  long tellConsumed() {
    told = consumed;
    return told;
  }

  /** Whether a frame must be sent only to tell the other end the number of consumed bytes. */
  boolean isToTell() {
    return consumed - told >= UNTOLD_BYTES_MAX;
  }
}
