package io.erda.verbs;

import io.erda.rdma.Claims;

/** {@link Claims} that use the counts that both ends send to each other. */
final class VerbsClaims implements Claims {
  private final VerbsQueuePair queuePair;
  private final Accounts accounts;

  VerbsClaims(VerbsQueuePair queuePair, Accounts accounts) {
    this.queuePair = queuePair;
    this.accounts = accounts;
  }

  @Override
  public boolean claim() {
    if (!isPeerThere()) {
      return false;
    }
    assert accounts.consumed >= accounts.claimed : "what was claimed stays claimed";
    accounts.claimed = accounts.consumed;
    return true;
  }

  @Override
  public boolean isPeerThere() {
    return queuePair.isConnected();
  }

  @Override
  public void finish() {
    accounts.finished = accounts.claimed;
    if (accounts.peerWithdrew && queuePair.mayStart()) {
      queuePair.tryToSay(Header.FINISHED);
    }
  }

  @Override
  public long sent() {
    return accounts.sent;
  }

  @Override
  public void withdraw() {
    if (!accounts.withdrawn) {
      accounts.withdrawn = true;
      if (queuePair.mayStart()) {
        queuePair.tryToSay(Header.WITHDRAW);
      }
    }
  }

  @Override
  public long claimed() {
    return accounts.claimedByPeer;
  }

  @Override
  public long finished() {
    return accounts.finishedByPeer;
  }
}
