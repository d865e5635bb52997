package io.erda.verbs;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * How long a connection is asked for, and when it is asked for anew. What connection managers tell
 * each other are datagrams, which may be lost; the kernel sends its own again after some twenty
 * seconds. So whoever got no answer asks again, {@value #TRIES} times in all: each try lasts twice
 * as long as the one before, and the last one has more than half of the time, because a peer may be
 * there and slow. One thread.
 */
final class Tries {
  static final int TRIES = 3;
  private static final long PARTS = (1 << TRIES) - 1;
  private static final long NS_PER_MS = 1_000_000;

  /** No try is shorter: where somebody has little time, one is what they get. */
  private static final long SHORTEST_NS = 500 * NS_PER_MS;

  private final LongSupplier nanoTime;
  private final long startNs;
  private final long timeoutNs;
  private long patienceNs;
  private long askedNs;
  private int asked;

  Tries(LongSupplier nanoTime, Duration timeout) {
    this.nanoTime = nanoTime;
    this.startNs = nanoTime.getAsLong();
    this.timeoutNs = timeout.toNanos();
    this.patienceNs = timeoutNs / PARTS;
  }

  /** How much time there is yet; 0 or less when it is over. */
  long remainingNs() {
    return timeoutNs - (nanoTime.getAsLong() - startNs);
  }

  /** The same for who wants milliseconds, at least one. */
  int remainingMs() {
    return Math.clamp(remainingNs() / NS_PER_MS, 1, Integer.MAX_VALUE);
  }

  boolean isOver() {
    return remainingNs() <= 0;
  }

  /** The peer is asked now. */
  void begin() {
    patienceNs *= asked == 0 ? 1 : 2;
    askedNs = nanoTime.getAsLong();
    asked++;
  }

  /** Whether the peer was asked so long ago that it should be asked again. */
  boolean isUnanswered() {
    return asked < TRIES && nanoTime.getAsLong() - askedNs >= Math.max(patienceNs, SHORTEST_NS);
  }
}
