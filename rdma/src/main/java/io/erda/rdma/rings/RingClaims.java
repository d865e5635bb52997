package io.erda.rdma.rings;

import io.erda.pmem.MemoryGuard;
import io.erda.rdma.Claims;

/**
 * {@link Claims} of a queue pair whose ends share memory. {@link ClaimWords} explains why both ends
 * agree.
 */
final class RingClaims implements Claims {
  private final RingQueuePair queuePair;
  private final ClaimWords words;
  private final Ends ends;
  private final Messages messages;
  private final MemoryGuard faults = new MemoryGuard();

  /**
   * The number of messages that were posted, including those that were not published because the
   * peer had ended.
   */
  private long posted;

  RingClaims(RingQueuePair queuePair, ClaimWords words, Ends ends, Messages messages) {
    this.queuePair = queuePair;
    this.words = words;
    this.ends = ends;
    this.messages = messages;
  }

  private boolean isConnected() {
    return queuePair.phase() == RingQueuePair.Phase.CONNECTED;
  }

  private boolean isClosed() {
    return queuePair.phase() == RingQueuePair.Phase.CLOSED;
  }

  @Override
  public boolean claim() {
    if (!isConnected() || queuePair.isRequester()) {
      return false;
    }
    queuePair.checkPeer();
    words.claim(messages.received());
    return !ends.hasPeerEnded();
  }

  @Override
  public boolean isPeerThere() {
    return isConnected() && !ends.hasPeerEnded();
  }

  @Override
  public void finish() {
    if (!isClosed() && !queuePair.isRequester()) {
      words.finish();
    }
  }

  /** A message was posted. */
  void onPosted() {
    posted++;
  }

  @Override
  public long sent() {
    return posted;
  }

  @Override
  public void withdraw() {
    if (isClosed() || words.isWithdrawn() || !queuePair.isRequester()) {
      return;
    }
    queuePair.lookForShortening();
    if (!faults.attempt(this, RingClaims::fence)) {
      // The responder may not notice that this end has withdrawn, and may claim the messages in the
      // ring.
      words.lose();
      queuePair.isMemoryLost();
      queuePair.breakOff();
    }
    words.withdraw();
  }

  private void fence() {
    ends.end(QueueLayout.FENCED);
    queuePair.ringIfAsleep();
  }

  @Override
  public long claimed() {
    return words.isWithdrawn() ? words.claimedThen() : Long.MAX_VALUE;
  }

  @Override
  public long finished() {
    return words.finished(isClosed());
  }
}
