package io.erda.simulation;

/**
 * The numbers of the other end's messages that this end has claimed and finished, and whether this
 * end has taken back its own messages: see {@link io.erda.rdma.Claims}.
 */
final class ClaimCounts {
  private long claimed;
  private long finished;
  private boolean withdrawn;
  private long claimedThen = Long.MAX_VALUE;

  void claim(long message) {
    assert message >= claimed : "what was claimed stays claimed";
    claimed = message;
  }

  long claimed() {
    return claimed;
  }

  /** Notes that the claimed messages have taken effect or never will. */
  void finish() {
    finished = claimed;
  }

  long finished() {
    return finished;
  }

  /**
   * Notes that this end takes back the messages that the other end did not claim.
   *
   * @param claimedThen the last message that may take effect
   */
  void withdraw(long claimedThen) {
    assert !withdrawn : "an end withdraws once";
    withdrawn = true;
    this.claimedThen = claimedThen;
  }

  boolean isWithdrawn() {
    return withdrawn;
  }

  /** The last message of this end that may take effect, as far as it knows. */
  long claimedThen() {
    return claimedThen;
  }
}
