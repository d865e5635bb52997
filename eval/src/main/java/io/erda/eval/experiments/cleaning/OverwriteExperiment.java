package io.erda.eval.experiments.cleaning;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.client.ErdaClient;
import io.erda.console.Numbers;
import io.erda.console.Progress;
import io.erda.eval.Experiment;
import io.erda.eval.load.Overwriter;
import io.erda.eval.load.ServedStore;
import io.erda.eval.process.ProcessException;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.ServerFigures;
import io.erda.eval.report.Table;
import io.erda.logstore.ObjectLayout;
import io.erda.server.StoreVerifier;
import io.erda.server.VerifyReport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A store of fixed size that two processes overwrite many times its capacity, while they and the
 * server are killed: nothing is lost, the throughput stays what it was, and so does the space.
 */
public final class OverwriteExperiment implements Experiment {
  private static final String NAME = "overwrite";
  private static final int VALUE_BYTES = 1024;
  private static final int LIVE_PERCENT = 60;
  private static final int TIMES = 50;
  private static final int QUICK_TIMES = 10;
  private static final int SLICES = 10;
  private static final int WORKERS = 2;

  /**
   * The second half's median rate to the first half's is at least this, slices with kills left out.
   */
  private static final double STEADY_MIN = 0.7;

  /** Regions beyond the capacity whose clients may not have left yet. */
  private static final int LEAVING_MAX = 3;

  private static final Duration SAMPLE = Duration.ofMillis(100);

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String what() {
    return "a store of fixed size, overwritten many times its capacity (50; with --quick 10) by two"
        + " processes, uniform and Zipfian, with kills of them and of the server: nothing lost,"
        + " steady, bounded";
  }

  private static int times(Context context) {
    return context.quick() ? QUICK_TIMES : TIMES;
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    Table table =
        new Table(
            "overwritten " + times(context) + " times, " + LIVE_PERCENT + "% live",
            "puts",
            "MB/s, first half",
            "second half",
            "copied per byte",
            "files at most",
            "kills");
    ObjectNode json = new ObjectMapper().createObjectNode();
    List<String> missed = new ArrayList<>();
    for (String distribution : List.of("uniform", "zipfian")) {
      try (Run run = new Run(context, distribution)) {
        run.run();
        run.report(table, json.putObject(distribution), missed);
      } catch (IOException e) {
        throw new ProcessException("overwrite: " + e.getMessage(), e);
      }
    }
    return Report.of(table, json, missed);
  }

  /** One store and its processes. */
  private static final class Run implements AutoCloseable {
    private final Context context;
    private final String distribution;
    private final long capacity;
    private final long regionBytes;
    private final int keysOfWorker;
    private final List<Overwriter> workers = new ArrayList<>();
    private final List<Double> ratesWithoutKill = new ArrayList<>();
    private final List<Double> rates = new ArrayList<>();
    private final List<String> findings = new ArrayList<>();
    private ServedStore store;
    private long bytesMax;
    private long copied;
    private long published;
    private int kills;

    Run(Context context, String distribution) {
      this.context = context;
      this.distribution = distribution;
      this.capacity = context.quick() ? 32L << 20 : 256L << 20;
      this.regionBytes = capacity / 32;
      long objects = capacity * LIVE_PERCENT / 100 / padded();
      this.keysOfWorker = (int) (objects / WORKERS);
    }

    private static int padded() {
      return ObjectLayout.padded(ObjectLayout.bytes(Overwriter.KEY_BYTES, VALUE_BYTES));
    }

    void run() throws IOException {
      Progress progress = context.progress();
      progress.step("overwrite, " + distribution);
      store = ServedStore.create(context, NAME, creation());
      Path remembered = context.newDirectory(NAME);
      Overwriter.Keys keys = new Overwriter.Keys(keysOfWorker, VALUE_BYTES, distribution);
      for (int i = 0; i < WORKERS; i++) {
        workers.add(Overwriter.start(context, store.server().uri(), remembered, i, keys));
      }
      long putsOfSlice = capacity / padded() * times(context) / SLICES / WORKERS;
      for (int slice = 0; slice < SLICES; slice++) {
        progress.at(slice * 100 / SLICES + "%");
        slice(slice, putsOfSlice);
      }
      workers.forEach(Overwriter::check);
      workers.forEach(Overwriter::awaitChecked);
      count();
      workers.forEach(Overwriter::end);
      store.close();
      StoreVerifier.verify(store.data()).findings().stream()
          .map(VerifyReport.Finding::what)
          .forEach(findings::add);
      progress.done("");
    }

    private List<String> creation() {
      return List.of(
          "--heads",
          "1",
          "--region-bytes",
          Long.toString(regionBytes),
          "--segment-bytes",
          "1M",
          "--capacity",
          Long.toString(capacity),
          "--buckets",
          Long.toString(Long.highestOneBit((long) WORKERS * keysOfWorker) * 4));
    }

    /** A worker is killed in two slices, the server in two others. */
    private void slice(int slice, long puts) throws IOException {
      long[] until = new long[WORKERS];
      long startNs = System.nanoTime();
      for (int i = 0; i < WORKERS; i++) {
        until[i] = workers.get(i).done() + puts;
        workers.get(i).run(puts);
      }
      boolean killsWorker = slice % 4 == 2;
      boolean killsServer = slice % 4 == 0 && slice > 0;
      if (killsWorker || killsServer) {
        while (workers.getFirst().done() < until[0] - puts / 2) {
          sample();
        }
        kills++;
        if (killsWorker) {
          killWorker(slice / 4 % WORKERS, until);
        } else {
          count();
          store.server().kill();
          store.startAgain();
        }
      }
      for (int i = 0; i < WORKERS; i++) {
        Overwriter worker = workers.get(i);
        while (worker.done() < until[i]) {
          sample();
          worker.requireAlive();
        }
        worker.awaitRan();
      }
      double rate = WORKERS * puts * padded() * 1e9 / (System.nanoTime() - startNs);
      rates.add(rate);
      // The first slice fills the store.
      if (!killsWorker && !killsServer && slice > 0) {
        ratesWithoutKill.add(rate);
      }
    }

    private void killWorker(int number, long[] until) {
      Overwriter worker = workers.get(number);
      worker.kill();
      worker.startAgain(store.server().uri());
      worker.run(until[number] - worker.done());
    }

    private void sample() throws IOException {
      bytesMax = Math.max(bytesMax, RegionFiles.bytes(store.data()));
      try {
        Thread.sleep(SAMPLE.toMillis());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new ProcessException("interrupted", e);
      }
    }

    /** What the server that lives has done. */
    private void count() {
      try (ErdaClient client = store.connect()) {
        var figures = client.stats();
        copied += ServerFigures.figure(figures, "cleaner.bytes.copied");
        published += ServerFigures.figure(figures, "objects.bytes.published");
      }
    }

    private double half(boolean second) {
      int middle = ratesWithoutKill.size() / 2;
      return Rounds.median(
          ratesWithoutKill
              .subList(second ? middle : 0, second ? ratesWithoutKill.size() : middle)
              .stream()
              .mapToDouble(rate -> rate)
              .toArray());
    }

    void report(Table table, ObjectNode json, List<String> missed) {
      long puts = workers.stream().mapToLong(Overwriter::done).sum();
      double copiedPerByte = copied / (double) published;
      table.row(
          distribution,
          Numbers.count(puts),
          Numbers.count(half(false) / 1e6),
          Numbers.count(half(true) / 1e6),
          Numbers.decimal(copiedPerByte),
          Numbers.count(bytesMax >> 20) + " MB of " + Numbers.count(capacity >> 20),
          kills);
      json.put("puts", puts)
          .put("capacityBytes", capacity)
          .put("copiedPerByte", copiedPerByte)
          .put("fileBytesMax", bytesMax)
          .put("kills", kills);
      ArrayNode slices = json.putArray("bytesPerSecond");
      rates.forEach(slices::add);
      findings.forEach(what -> missed.add(distribution + ": " + what));
      if (half(true) < STEADY_MIN * half(false)) {
        missed.add(
            String.format(
                Locale.ROOT,
                "%s: %.0f MB/s in the second half, %.0f in the first, expected at least %.1f times",
                distribution,
                half(true) / 1e6,
                half(false) / 1e6,
                STEADY_MIN));
      }
      if (bytesMax > capacity + LEAVING_MAX * regionBytes) {
        missed.add(
            distribution
                + ": files of regions took "
                + Numbers.count(bytesMax)
                + " bytes, capacity is "
                + Numbers.count(capacity));
      }
    }

    @Override
    public void close() {
      workers.forEach(Overwriter::close);
    }
  }
}
