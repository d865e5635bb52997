package io.erda.eval.load;

import org.HdrHistogram.Histogram;

/**
 * Latencies of one kind of operation, in nanoseconds.
 *
 * @param count 0: there were none, the others say nothing then
 */
public record Percentiles(long count, long p50, long p99, long p999, long max) {
  static Percentiles of(Histogram histogram) {
    return new Percentiles(
        histogram.getTotalCount(),
        histogram.getValueAtPercentile(50),
        histogram.getValueAtPercentile(99),
        histogram.getValueAtPercentile(99.9),
        histogram.getMaxValue());
  }

  /** Numbers with commas between. */
  String format() {
    return count + "," + p50 + "," + p99 + "," + p999 + "," + max;
  }

  static Percentiles parse(String text) {
    String[] parts = text.split(",");
    return new Percentiles(
        Long.parseLong(parts[0]),
        Long.parseLong(parts[1]),
        Long.parseLong(parts[2]),
        Long.parseLong(parts[3]),
        Long.parseLong(parts[4]));
  }
}
