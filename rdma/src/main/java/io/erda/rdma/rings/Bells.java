package io.erda.rdma.rings;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * Tells each end of a connection whether the other sleeps: a word of each in the memory that they
 * share ({@link QueueLayout}).
 *
 * <p>An end that is about to sleep stores 1 into its bell, then looks at its ring again; an end
 * that published a message looks at the other's bell after it. A full fence stands between the
 * store and the load on both sides, so not both can miss the other. The ringer clears the bell
 * before it rings, so a bell that was cleared is always followed by a ring.
 *
 * <p>Used only while the queue pair is not closed.
 */
final class Bells {
  // Absolute addresses.
  private final long own;
  private final long peer;

  Bells(MemorySegment queue, boolean requester) {
    long first = queue.address() + QueueLayout.REQUESTER_BELL_OFFSET;
    long second = queue.address() + QueueLayout.RESPONDER_BELL_OFFSET;
    this.own = requester ? first : second;
    this.peer = requester ? second : first;
  }

  /** Says that this end is about to sleep; it looks at its ring after this. */
  void arm() {
    Words.release(own, 1);
    VarHandle.fullFence();
  }

  /** Says that this end does not sleep after all. */
  void disarm() {
    Words.release(own, 0);
  }

  /** Whether the peer sleeps: then its bell is cleared, and the caller wakes it. */
  boolean takePeer() {
    VarHandle.fullFence();
    if (Words.acquire(peer) == 0) {
      return false;
    }
    Words.release(peer, 0);
    return true;
  }
}
