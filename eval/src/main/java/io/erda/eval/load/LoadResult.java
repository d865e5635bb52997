package io.erda.eval.load;

import io.erda.eval.process.ProcessException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The result of one measured phase, passed between processes as one line.
 *
 * @param operations that were done, including failed ones
 * @param errors operations that did not answer OK
 * @param updates updates and inserts that answered OK
 */
public record LoadResult(
    long operations,
    long errors,
    long updates,
    long elapsedNs,
    Percentiles read,
    Percentiles update) {
  private static final String FORM =
      "operations=%s errors=%s updates=%s elapsedNs=%s read=%s update=%s";
  private static final String NUMBER = "(\\d{1,18})";
  private static final Pattern LINE =
      Pattern.compile(FORM.formatted(NUMBER, NUMBER, NUMBER, NUMBER, "(\\S+)", "(\\S+)"));

  public double throughputOpsPerSecond() {
    return elapsedNs == 0 ? 0 : operations * 1e9 / elapsedNs;
  }

  /** The result as one line. */
  public String format() {
    return FORM.formatted(operations, errors, updates, elapsedNs, read.format(), update.format());
  }

  /**
   * Reads what {@link #format} wrote.
   *
   * @throws ProcessException when the line is something else
   */
  public static LoadResult parse(String line) {
    Matcher fields = LINE.matcher(line);
    if (!fields.matches()) {
      throw new ProcessException("the load process answered '" + line + "', which is no result");
    }
    return new LoadResult(
        Long.parseLong(fields.group(1)),
        Long.parseLong(fields.group(2)),
        Long.parseLong(fields.group(3)),
        Long.parseLong(fields.group(4)),
        Percentiles.parse(fields.group(5)),
        Percentiles.parse(fields.group(6)));
  }
}
