package io.erda.rdma.tcp;

/**
 * A requester that posts nothing any more, and what the other end says of that: how many sends and
 * notices it had claimed by then, and how many of those are settled. One thread.
 */
final class Withdrawal {
  private boolean begun;
  private long claimed = Long.MAX_VALUE;
  private long settled;

  void begin() {
    begun = true;
  }

  boolean isBegun() {
    return begun;
  }

  /**
   * The other end says how many it claimed, which stays as it was told first, and how many are
   * settled, which grows. Returns false where that can't be.
   *
   * @param sent how many were sent to it
   */
  boolean hear(long claimedThere, long settledThere, long sent) {
    if (!begun || claimedThere < 0 || claimedThere > sent || settledThere > claimedThere) {
      return false;
    }
    claimed = claimed == Long.MAX_VALUE ? claimedThere : claimed;
    settled = Math.max(settled, settledThere);
    return true;
  }

  /** {@link Long#MAX_VALUE} while the other end has not said. */
  long claimed() {
    return claimed;
  }

  long settled() {
    return settled;
  }
}
