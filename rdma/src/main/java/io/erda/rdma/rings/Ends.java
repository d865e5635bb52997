package io.erda.rdma.rings;

import io.erda.rdma.Status;
import java.lang.foreign.MemorySegment;

/**
 * Whether the two ends of a connection still are there: a word of each in the memory that they
 * share ({@link QueueLayout}), and whether this end noticed a death outside of it. The owner of a
 * word stores it before anything else when it ends; the other looks at it after each READ and
 * WRITE.
 *
 * <p>Used only while the queue pair is not closed.
 */
final class Ends {
  // Absolute addresses.
  private final long own;
  private final long peer;

  private final boolean requester;
  private final ClaimWords claims;

  /** The peer died or broke the protocol: noticed outside the shared memory. */
  private boolean broken;

  /**
   * @param claims of the same connection: a requester that has withdrawn sends nothing more
   */
  Ends(MemorySegment queue, boolean requester, ClaimWords claims) {
    long first = queue.address() + QueueLayout.REQUESTER_STATE_OFFSET;
    long second = queue.address() + QueueLayout.RESPONDER_STATE_OFFSET;
    this.own = requester ? first : second;
    this.peer = requester ? second : first;
    this.requester = requester;
    this.claims = claims;
  }

  /** The state that the peer says it is in: one of {@link QueueLayout}. */
  long peerState() {
    return Words.acquire(peer);
  }

  /** Says that this end is over; {@code state} is what the peer finds. */
  void end(long state) {
    Words.release(own, state);
  }

  /** The peer died or broke the protocol: nothing from it counts from now on. */
  void breakOff() {
    broken = true;
    if (!requester) {
      end(QueueLayout.FENCED);
    }
  }

  boolean isBroken() {
    return broken;
  }

  boolean hasPeerEnded() {
    return broken || peerState() != QueueLayout.OPEN;
  }

  /** Whether stores and messages may still take effect; a status. */
  int sendable() {
    if (claims.isWithdrawn()) {
      return Status.FLUSHED;
    }
    long state = peerState();
    if (state == QueueLayout.OPEN && !broken) {
      return Status.SUCCESS;
    }
    return state == QueueLayout.FENCED || state == QueueLayout.GONE
        ? Status.FENCED
        : Status.FLUSHED;
  }
}
