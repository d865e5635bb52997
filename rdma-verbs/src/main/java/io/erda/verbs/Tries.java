package io.erda.verbs;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The times of the requests for a connection. Connection managers exchange datagrams, which may be
 * lost; the kernel repeats its datagrams after some twenty seconds. So without an answer in a third
 * of the time this end sends a second request. The second request has more time than the first,
 * because a peer may be slow. One thread.
 */
final class Tries {
  private static final long NS_PER_MS = 1_000_000;

  /**
   * The least time of each of two requests. When there is less time, a single request gets all of
   * it.
   */
  private static final long SHORTEST_NS = 500 * NS_PER_MS;

  private final LongSupplier nanoTime;
  private final long startNs;
  private final long timeoutNs;
  private long askedNs;
  private int asked;

  Tries(LongSupplier nanoTime, Duration timeout) {
    this.nanoTime = nanoTime;
    this.startNs = nanoTime.getAsLong();
    this.timeoutNs = timeout.toNanos();
  }

  /** Returns the time that is left; 0 or less when it has passed. */
  long remainingNs() {
    return timeoutNs - (nanoTime.getAsLong() - startNs);
  }

  /** The same in milliseconds, at least one. */
  int remainingMs() {
    return Math.clamp(remainingNs() / NS_PER_MS, 1, Integer.MAX_VALUE);
  }

  boolean isOver() {
    return remainingNs() <= 0;
  }

  /** Notes that a request is sent now. */
  void begin() {
    askedNs = nanoTime.getAsLong();
    asked++;
  }

  /**
   * Whether the last request was sent so long ago that another one should be sent, and there is
   * time left.
   */
  boolean isUnanswered() {
    long patienceNs = Math.max(timeoutNs / 3, SHORTEST_NS);
    return asked == 1
        && nanoTime.getAsLong() - askedNs >= patienceNs
        && remainingNs() >= patienceNs;
  }
}
