package io.erda.simulation;

/**
 * How far one end is with the messages of the other, by their numbers, and whether it has taken
 * back its own: see {@link io.erda.rdma.Claims}.
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

  /** What was claimed has taken effect or never will. */
  void finish() {
    finished = claimed;
  }

  long finished() {
    return finished;
  }

  /**
   * This end takes back whatever the other did not claim.
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
