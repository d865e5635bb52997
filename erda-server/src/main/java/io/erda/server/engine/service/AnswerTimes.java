package io.erda.server.engine.service;

import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * Times of answers in the last ten to twenty seconds, in buckets that are an eighth of a power of
 * two wide. One thread.
 */
final class AnswerTimes {
  /**
   * The time for which answers are counted in one half; then the other half is cleared and used.
   */
  static final long HALF_NS = 10_000_000_000L;

  private static final int PARTS_BITS = 3;
  private static final int PARTS = 1 << PARTS_BITS;
  private static final int BUCKETS = (Long.SIZE - PARTS_BITS) * PARTS;

  private final LongSupplier nanoTime;
  private long[] half = new long[BUCKETS];
  private long[] halfBefore = new long[BUCKETS];
  private long halfBeganNs;

  AnswerTimes(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.halfBeganNs = nanoTime.getAsLong();
  }

  /** Adds an answer that is given now to a request that came at {@code beganNs}. */
  void add(long beganNs) {
    long nowNs = nanoTime.getAsLong();
    forget(nowNs);
    half[bucket(Math.max(0, nowNs - beganNs))]++;
  }

  private void forget(long nowNs) {
    long ageNs = nowNs - halfBeganNs;
    if (ageNs < HALF_NS) {
      return;
    }
    long[] oldest = halfBefore;
    halfBefore = half;
    half = oldest;
    Arrays.fill(half, 0);
    halfBeganNs += HALF_NS;
    if (ageNs >= 2 * HALF_NS) {
      Arrays.fill(halfBefore, 0);
      halfBeganNs = nowNs;
    }
  }

  /**
   * Returns the time within which {@code permille} of a thousand answers were given, in
   * nanoseconds, at most an eighth too large; −1 when no answer was timed.
   */
  long permille(int permille) {
    forget(nanoTime.getAsLong());
    long all = 0;
    for (int i = 0; i < BUCKETS; i++) {
      all += half[i] + halfBefore[i];
    }
    long left = Math.max(1, Math.ceilDiv(all * permille, 1000L));
    for (int i = 0; i < BUCKETS; i++) {
      left -= half[i] + halfBefore[i];
      if (left <= 0) {
        return longest(i);
      }
    }
    return -1;
  }

  private static int bucket(long ns) {
    if (ns < PARTS) {
      return (int) ns;
    }
    int shift = Long.SIZE - 1 - Long.numberOfLeadingZeros(ns) - PARTS_BITS;
    return (shift << PARTS_BITS) + (int) (ns >>> shift);
  }

  /** The longest time that belongs to a bucket of {@link #bucket}. */
  private static long longest(int bucket) {
    if (bucket < 2 * PARTS) {
      return bucket;
    }
    int shift = (bucket >> PARTS_BITS) - 1;
    return ((long) (bucket & PARTS - 1 | PARTS) + 1 << shift) - 1;
  }
}
