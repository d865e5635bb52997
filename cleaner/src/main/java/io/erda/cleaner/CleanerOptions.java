package io.erda.cleaner;

/**
 * When and how the log is cleaned.
 *
 * @param freeRegionsMin cleaning starts by itself when fewer regions than this can be linked; 0: it
 *     never does, and no region is reserved for it
 * @param livePercent the log is cleaned so that at least this percentage of the bytes in its
 *     regions, apart from one region for each head, is live, 1 to 90 %; 0: the log may fill its
 *     capacity. A higher percentage makes the files smaller, and more is copied: with a share u of
 *     a region live, u / (1 − u) bytes are copied for each byte gained
 * @param writersWaitNs how long writers may go on to write into the victim
 * @param leavingNs how long the space of a retired region is kept for a client that may not know of
 *     the retirement; safety does not depend on it
 * @param leaseWaitNs how long a request for space waits for cleaning before the log counts as full
 */
public record CleanerOptions(
    int freeRegionsMin, int livePercent, long writersWaitNs, long leavingNs, long leaseWaitNs) {
  /**
   * The highest {@link #livePercent}. Cleaning regions with a higher live share gains too little.
   */
  public static final int LIVE_PERCENT_MAX = 90;

  /** Two regions, 50 %, 50 ms, 2 s, 3 s. */
  public static final CleanerOptions DEFAULT =
      new CleanerOptions(2, 50, 50_000_000L, 2_000_000_000L, 3_000_000_000L);

  /** No cleaning at all. */
  public static final CleanerOptions NEVER = new CleanerOptions(0, 0, 0, 0, 0);

  public CleanerOptions {
    if (freeRegionsMin < 0 || writersWaitNs < 0 || leavingNs < 0 || leaseWaitNs < 0) {
      throw new IllegalArgumentException("a negative bound");
    }
    if (livePercent < 0 || livePercent > LIVE_PERCENT_MAX) {
      throw new IllegalArgumentException(
          "the live share must be 0 to " + LIVE_PERCENT_MAX + " %: " + livePercent);
    }
  }

  /** A copy with another {@link #livePercent}. */
  public CleanerOptions withLivePercent(int value) {
    return new CleanerOptions(freeRegionsMin, value, writersWaitNs, leavingNs, leaseWaitNs);
  }

  /** Whether the log is ever cleaned. */
  public boolean enabled() {
    return freeRegionsMin > 0;
  }
}
