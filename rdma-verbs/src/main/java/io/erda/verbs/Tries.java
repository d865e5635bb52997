package io.erda.verbs;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * How long to ask for a connection, and when to ask again. Connection managers exchange datagrams,
 * which may be lost; the kernel sends its own again after some twenty seconds. So without an answer
 * in a third of the time this end asks once more: the second request has more time than the first,
 * because a peer may be slow. One thread.
 */
final class Tries {
  private static final long NS_PER_MS = 1_000_000;

  /** Each of two requests has at least this long; where there is less, one has all the time. */
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

  /** The time that is left; 0 or less when it is over. */
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

  /** The peer is asked now. */
  void begin() {
    askedNs = nanoTime.getAsLong();
    asked++;
  }

  /** Whether the peer was asked so long ago that it should be asked again, and there is time. */
  boolean isUnanswered() {
    long patienceNs = Math.max(timeoutNs / 3, SHORTEST_NS);
    return asked == 1
        && nanoTime.getAsLong() - askedNs >= patienceNs
        && remainingNs() >= patienceNs;
  }
}
