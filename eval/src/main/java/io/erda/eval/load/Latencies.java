package io.erda.eval.load;

import org.HdrHistogram.Histogram;

/** Latencies of one kind of operation, in nanoseconds, up to a minute. One thread. */
public final class Latencies {
  private static final long NS_MAX = 60_000_000_000L;

  private final Histogram histogram = new Histogram(NS_MAX, 3);

  public void record(long ns) {
    histogram.recordValue(Math.min(ns, NS_MAX));
  }

  /** Adds those of another object, whose thread has ended or waits. */
  public void add(Latencies other) {
    histogram.add(other.histogram);
  }

  /** Clears them. */
  public void reset() {
    histogram.reset();
  }

  public Percentiles percentiles() {
    return Percentiles.of(histogram);
  }
}
