package io.erda.verbs;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * How long a connection is asked for, and when it is asked for anew. What connection managers tell
 * each other are datagrams, which may be lost; the kernel sends its own again after some twenty
 * seconds. So whoever got no answer in a third of the time asks once more: the second request has
 * more time than the first, because a peer may be there and slow. One thread.
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

  /** How much time there is yet; 0 or less when it is over. */
  long remainingNs() {
    return timeoutNs - (nanoTime.getAsLong() - startNs);
  }

  /** Gives the same in milliseconds, at least one. */
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
