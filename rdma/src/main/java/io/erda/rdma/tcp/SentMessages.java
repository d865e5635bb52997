package io.erda.rdma.tcp;

import io.erda.rdma.Claims;

/**
 * The messages that a requester has sent, and, once it posts nothing any more, what the other end
 * says of them: how many it had claimed by then, and with how many of those it has finished. One
 * thread.
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
   * The other end says how many it claimed, which stays as it was told first, and with how many it
   * has finished, which grows. Returns false where that can't be.
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
