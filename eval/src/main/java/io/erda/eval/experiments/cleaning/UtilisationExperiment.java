package io.erda.eval.experiments.cleaning;

import static io.erda.eval.report.Figure.count;
import static io.erda.eval.report.Figure.number;
import static io.erda.eval.report.Figure.perSecond;
import static io.erda.eval.report.Figure.words;

import io.erda.client.ErdaClient;
import io.erda.eval.Experiment;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.StatsFigures;
import io.erda.logstore.ObjectLayout;
import io.erda.protocol.ErdaException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;

/**
 * The cost of a full store: bytes that cleaning copies for each byte that is written, by the live
 * share of the capacity. Keys are overwritten at random, which is the worst case.
 */
public final class UtilisationExperiment implements Experiment {
  private static final int VALUE_BYTES = 1024;
  private static final int[] LIVE_PERCENTS = {50, 60, 70, 80, 90};

  /** A store with a larger live share may report that it is full. */
  private static final int WORKS_PERCENT = 80;

  /** How many times the capacity is written before the measurement, and during it. */
  private static final int WARMUP_TIMES = 2;

  private static final int TIMES = 5;

  @Override
  public String name() {
    return "utilisation";
  }

  @Override
  public String what() {
    return "a store that is 80% live goes on, and the bytes that cleaning copies per byte written"
        + " are counted with 50 to 90% of the capacity live";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    long capacity = context.quick() ? 32L << 20 : 512L << 20;
    Figures figures = new Figures("% live");
    Report report = context.report().add(figures);
    for (int percent : LIVE_PERCENTS) {
      Measured measured = measure(context, capacity, percent);
      boolean goesOn = measured.full == null;
      figures
          .row(percent)
          .add(
              number("copied per byte written", goesOn ? measured.copiedPerByte : Double.NaN),
              perSecond("puts", goesOn ? measured.putsPerSecond : Double.NaN),
              count("cleanings", measured.cleanings),
              words("the store", goesOn ? "goes on" : "is full"));
      if (!goesOn && percent <= WORKS_PERCENT) {
        report.miss("a store that is " + percent + "% live does not go on: " + measured.full);
      }
    }
    return report;
  }

  private record Measured(
      double copiedPerByte, double putsPerSecond, long cleanings, String full) {}

  private Measured measure(Context context, long capacity, int percent) {
    int padded = ObjectLayout.padded(ObjectLayout.bytes(Dataset.KEY_BYTES, VALUE_BYTES));
    int objects = (int) (capacity * percent / 100 / padded);
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    List<String> creation =
        List.of(
            "--heads",
            "1",
            "--region-bytes",
            Long.toString(capacity / 64),
            "--segment-bytes",
            "512K",
            "--capacity",
            Long.toString(capacity),
            "--buckets",
            Long.toString(Long.highestOneBit(objects) * 4));
    String full = null;
    Map<String, Long> before = Map.of();
    Map<String, Long> after;
    double seconds = 1;
    try (ServedStore store = ServedStore.create(context, name(), creation);
        ErdaClient client = store.connect()) {
      long puts = capacity / padded;
      before = client.stats();
      try {
        dataset.load(client, context.progress());
        context.progress().step("overwrite them, " + percent + "% live");
        MemorySegment[] keys = Dataset.keys(dataset.sequence(1 << 18, percent));
        MemorySegment value = dataset.value(1);
        put(client, keys, value, 0, WARMUP_TIMES * puts);
        before = client.stats();
        long startNs = System.nanoTime();
        put(client, keys, value, WARMUP_TIMES * puts, TIMES * puts);
        seconds = (System.nanoTime() - startNs) / 1e9;
        context.progress().done("");
      } catch (ErdaException.Full e) {
        context.progress().done("full");
        full = e.getMessage();
      }
      after = client.stats();
    }
    double written = difference(before, after, "objects.bytes.published");
    return new Measured(
        difference(before, after, "cleaner.bytes.copied") / written,
        difference(before, after, "puts") / seconds,
        (long) difference(before, after, "cleaner.cleanings"),
        full);
  }

  private static double difference(
      Map<String, Long> before, Map<String, Long> after, String figure) {
    return StatsFigures.figure(after, figure) - StatsFigures.figure(before, figure);
  }

  private static void put(
      ErdaClient client, MemorySegment[] keys, MemorySegment value, long from, long count) {
    for (long i = from; i < from + count; i++) {
      client.put(keys[(int) (i % keys.length)], value);
    }
  }
}
