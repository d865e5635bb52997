package io.erda.ycsb;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import site.ycsb.measurements.exporter.MeasurementsExporter;
import site.ycsb.measurements.exporter.TextMeasurementsExporter;

/**
 * Writes YCSB's report as its text exporter does, and keeps the operations' results. YCSB itself
 * always exits with 0; a caller that runs it in its own process can ask {@link #outcome()} here.
 */
public final class CheckedExporter implements MeasurementsExporter {
  // The outcome of the last run. YCSB makes exporters by class name and exits by itself, so there
  // is no other way to get a result out of it.
  private static final AtomicReference<Outcome> LAST = new AtomicReference<>();

  private static final String RETURN = "Return=";

  private final TextMeasurementsExporter text;
  private final Map<String, Long> failures = new TreeMap<>();
  private long succeeded;

  /**
   * The results of the operations of a run.
   *
   * @param succeeded operations that answered OK
   * @param failures "OPERATION STATUS" → count, of all other answers
   */
  public record Outcome(long succeeded, Map<String, Long> failures) {
    public Outcome {
      failures = Map.copyOf(failures);
    }
  }

  public CheckedExporter(OutputStream out) {
    this.text = new TextMeasurementsExporter(out);
  }

  /** The outcome of the run that was exported last in this process, or null when none was. */
  public static Outcome outcome() {
    return LAST.get();
  }

  @Override
  public void write(String metric, String measurement, int value) throws IOException {
    count(metric, measurement, value);
    text.write(metric, measurement, value);
  }

  @Override
  public void write(String metric, String measurement, long value) throws IOException {
    count(metric, measurement, value);
    text.write(metric, measurement, value);
  }

  @Override
  public void write(String metric, String measurement, double value) throws IOException {
    text.write(metric, measurement, value);
  }

  @Override
  public void close() throws IOException {
    LAST.set(new Outcome(succeeded, failures));
    text.close();
  }

  private void count(String metric, String measurement, long value) {
    if (!measurement.startsWith(RETURN)) {
      return;
    }
    String status = measurement.substring(RETURN.length());
    if (status.equals("OK") || status.equals("BATCHED_OK")) {
      succeeded += value;
    } else {
      failures.merge(metric + " " + status, value, Long::sum);
    }
  }
}
