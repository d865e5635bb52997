package io.erda.pmem;

/**
 * The delays by which writes to an emulated persistent memory take longer than writes to the
 * wrapped memory. Both delays may be set; they add up.
 *
 * @param perStoreNs the delay after each put or word store of at least one byte, nanoseconds
 * @param perLineNs the delay at a drain for each cache line that was flushed before it, one after
 *     the other, nanoseconds
 */
public record WriteDelay(long perStoreNs, long perLineNs) {
  /** The Erda paper's emulation (section 5.1): 150 ns more for each write to NVM. */
  public static final WriteDelay PAPER = perStore(150);

  public WriteDelay {
    if (perStoreNs < 0 || perLineNs < 0) {
      throw new IllegalArgumentException("negative delay: " + perStoreNs + ", " + perLineNs);
    }
  }

  /** A delay of each store. */
  public static WriteDelay perStore(long ns) {
    return new WriteDelay(ns, 0);
  }

  /** A delay of each drained line. */
  public static WriteDelay perLine(long ns) {
    return new WriteDelay(0, ns);
  }
}
