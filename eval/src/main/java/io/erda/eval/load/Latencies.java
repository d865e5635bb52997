package io.erda.eval.load;

import org.HdrHistogram.Histogram;

/** How long operations of one kind took, in nanoseconds; a minute is the most. One thread. */
public final class Latencies {
  private static final long NS_MAX = 60_000_000_000L;

  private final Histogram histogram = new Histogram(NS_MAX, 3);

  public void record(long ns) {
    histogram.recordValue(Math.min(ns, NS_MAX));
  }

  /** Adds another's, whose thread has ended or waits. */
  public void add(Latencies other) {
    histogram.add(other.histogram);
  }

  /** Forgets them. */
  public void reset() {
    histogram.reset();
  }

  public Percentiles percentiles() {
    return Percentiles.of(histogram);
  }
}
