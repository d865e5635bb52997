package io.erda.rdma.tcp;

import io.erda.rdma.Claims;

/**
 * Counts the messages of a requester, and, after it withdrew, those that the other end has claimed
 * and finished. One thread.
 */
final class SentMessages implements Claims {
  private final TcpQueuePair queuePair;
  private long sent;
  private boolean withdrawn;
  private long claimed = Long.MAX_VALUE;
  private long finished;

  SentMessages(TcpQueuePair queuePair) {
    this.queuePair = queuePair;
  }

  void onPosted() {
    sent++;
  }

  @Override
  public long sent() {
    return sent;
  }

  @Override
  public void withdraw() {
    if (!withdrawn && !queuePair.isClosed()) {
      withdrawn = true;
      queuePair.tellThatItWithdrew();
    }
  }

  boolean isWithdrawn() {
    return withdrawn;
  }

  /**
   * Takes the other end's numbers of claimed and of finished messages. Only the first number of
   * claimed messages is used; the number of finished messages grows. Returns false when they
   * violate the protocol.
   */
  boolean hear(long claimedThere, long finishedThere) {
    if (!withdrawn || claimedThere < 0 || claimedThere > sent || finishedThere > claimedThere) {
      return false;
    }
    claimed = claimed == Long.MAX_VALUE ? claimedThere : claimed;
    finished = Math.max(finished, finishedThere);
    return true;
  }

  @Override
  public long claimed() {
    return claimed;
  }

  @Override
  public long finished() {
    return finished;
  }
}
