package io.erda.rdma.rings;

import io.erda.rdma.Status;
import java.lang.foreign.MemorySegment;

/**
 * The states of the two ends of a connection: a word of each end, in the memory that both ends
 * share ({@link QueueLayout}), and whether this end has noticed the death of the peer in another
 * way. An end that ends first stores its state; the other end checks that state after each READ and
 * WRITE.
 *
 * <p>Used only while the queue pair is not closed.
 */
final class Ends {
  // Absolute addresses of the two words.
  private final long own;
  private final long peer;

  private final boolean requester;
  private final ClaimWords claims;

  /**
   * Whether the peer died or violated the protocol, which was noticed in another way than by its
   * word.
   */
  private boolean broken;

  /**
   * @param claims the claims of the same connection: a requester that has withdrawn sends no more
   *     messages
   */
  Ends(MemorySegment queue, boolean requester, ClaimWords claims) {
    long first = queue.address() + QueueLayout.REQUESTER_STATE_OFFSET;
    long second = queue.address() + QueueLayout.RESPONDER_STATE_OFFSET;
    this.own = requester ? first : second;
    this.peer = requester ? second : first;
    this.requester = requester;
    this.claims = claims;
  }

  /** Returns the state that the peer has stored, a constant of {@link QueueLayout}. */
  long peerState() {
    return Words.acquire(peer);
  }

  /** Stores {@code state} for the peer, because this end has ended. */
  void end(long state) {
    Words.release(own, state);
  }

  /**
   * Notes that the peer died or violated the protocol. From now on nothing that comes from the peer
   * is used.
   */
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

  /** Returns whether stores and messages may still take effect, as a status. */
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
