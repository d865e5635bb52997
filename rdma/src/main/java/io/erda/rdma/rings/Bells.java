package io.erda.rdma.rings;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The bells of a connection: a word of each end, in the memory that both ends share ({@link
 * QueueLayout}), which shows whether the end sleeps.
 *
 * <p>An end that is about to sleep first stores 1 into its bell, and then checks its ring again. An
 * end that sends a message first publishes it, and then checks the bell of the other end. On both
 * sides a full fence separates the store from the load, so at least one end notices the other. An
 * end that wakes the other first clears the bell, so after a bell was cleared the wake-up always
 * follows.
 *
 * <p>Used only while the queue pair is not closed.
 */
final class Bells {
  // Absolute addresses of both bells.
  private final long own;
  private final long peer;

  Bells(MemorySegment queue, boolean requester) {
    long first = queue.address() + QueueLayout.REQUESTER_BELL_OFFSET;
    long second = queue.address() + QueueLayout.RESPONDER_BELL_OFFSET;
    this.own = requester ? first : second;
    this.peer = requester ? second : first;
  }

  /** Stores that this end is about to sleep. The caller checks its ring after this. */
  void arm() {
    Words.release(own, 1);
    VarHandle.fullFence();
  }

  /** Stores that this end does not sleep. */
  void disarm() {
    Words.release(own, 0);
  }

  /**
   * Clears the peer's bell if the peer sleeps. Returns whether it does; then the caller wakes it.
   */
  boolean takePeer() {
    VarHandle.fullFence();
    if (Words.acquire(peer) == 0) {
      return false;
    }
    Words.release(peer, 0);
    return true;
  }
}
