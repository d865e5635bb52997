package io.erda.eval.load;

import io.erda.eval.process.ProcessException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.HdrHistogram.Histogram;

/**
 * Latencies of one kind of operation, in nanoseconds.
 *
 * @param count 0: there were none, and the other values are meaningless
 */
public record Percentiles(long count, long p50, long p99, long p999, long max) {
  private static final Pattern FORM =
      Pattern.compile("(\\d{1,18}),(\\d{1,18}),(\\d{1,18}),(\\d{1,18}),(\\d{1,18})");

  static Percentiles of(Histogram histogram) {
    return new Percentiles(
        histogram.getTotalCount(),
        histogram.getValueAtPercentile(50),
        histogram.getValueAtPercentile(99),
        histogram.getValueAtPercentile(99.9),
        histogram.getMaxValue());
  }

  /** The numbers separated by commas. */
  String format() {
    return count + "," + p50 + "," + p99 + "," + p999 + "," + max;
  }

  /**
   * Reads what {@link #format} wrote.
   *
   * @throws ProcessException when the text is something else
   */
  static Percentiles parse(String text) {
    Matcher numbers = FORM.matcher(text);
    if (!numbers.matches()) {
      throw new ProcessException(
          "the load process answered '" + text + "', not COUNT,P50,P99,P999,MAX");
    }
    return new Percentiles(
        Long.parseLong(numbers.group(1)),
        Long.parseLong(numbers.group(2)),
        Long.parseLong(numbers.group(3)),
        Long.parseLong(numbers.group(4)),
        Long.parseLong(numbers.group(5)));
  }
}
