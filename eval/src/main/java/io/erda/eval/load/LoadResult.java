package io.erda.eval.load;

import java.util.HashMap;
import java.util.Map;

/**
 * What one measured phase of load did. Crosses the process border as one line.
 *
 * @param operations that were done, failed ones too
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
  public double throughputOpsPerSecond() {
    return elapsedNs == 0 ? 0 : operations * 1e9 / elapsedNs;
  }

  String format() {
    return "operations=%d errors=%d updates=%d elapsedNs=%d read=%s update=%s"
        .formatted(operations, errors, updates, elapsedNs, read.format(), update.format());
  }

  static LoadResult parse(String line) {
    Map<String, String> fields = new HashMap<>();
    for (String field : line.strip().split(" ")) {
      int equals = field.indexOf('=');
      fields.put(field.substring(0, equals), field.substring(equals + 1));
    }
    return new LoadResult(
        Long.parseLong(fields.get("operations")),
        Long.parseLong(fields.get("errors")),
        Long.parseLong(fields.get("updates")),
        Long.parseLong(fields.get("elapsedNs")),
        Percentiles.parse(fields.get("read")),
        Percentiles.parse(fields.get("update")));
  }
}
