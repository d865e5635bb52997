package io.erda.cleaner;

/**
 * When and how to clean.
 *
 * @param freeRegionsMin cleaning starts by itself when fewer regions than this can be linked; 0:
 *     never by itself, and no region is kept for it
 * @param writersWaitNs how long writers may go on in a region that is to be cleaned
 * @param leavingNs how long space is kept for a client that may not have heard that its region is
 *     gone; safety does not depend on it
 * @param leaseWaitNs how long a request for space waits for cleaning before the log counts as full
 */
public record CleanerOptions(
    int freeRegionsMin, long writersWaitNs, long leavingNs, long leaseWaitNs) {
  /** Two regions, 50 ms, 2 s, 3 s. */
  public static final CleanerOptions DEFAULT =
      new CleanerOptions(2, 50_000_000L, 2_000_000_000L, 3_000_000_000L);

  /** No cleaning at all. */
  public static final CleanerOptions NEVER = new CleanerOptions(0, 0, 0, 0);

  public CleanerOptions {
    if (freeRegionsMin < 0 || writersWaitNs < 0 || leavingNs < 0 || leaseWaitNs < 0) {
      throw new IllegalArgumentException("a negative bound");
    }
  }

  /** Whether the log is ever cleaned. */
  public boolean enabled() {
    return freeRegionsMin > 0;
  }
}
