package io.erda.eval.experiments.cleaning;

import static io.erda.eval.report.Figure.bytes;
import static io.erda.eval.report.Figure.count;
import static io.erda.eval.report.Figure.number;
import static io.erda.eval.report.Figure.perSecond;
import static io.erda.eval.report.Figure.ratio;

import io.erda.client.ErdaClient;
import io.erda.console.Progress;
import io.erda.eval.Experiment;
import io.erda.eval.load.Overwriter;
import io.erda.eval.load.ServedStore;
import io.erda.eval.process.ProcessException;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.StatsFigures;
import io.erda.logstore.ObjectLayout;
import io.erda.server.StoreVerifier;
import io.erda.server.VerifyReport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Two processes overwrite a store of fixed size many times its capacity, while they and the server
 * are killed: nothing is lost, and throughput and space stay constant.
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
   * The least ratio of the second half's median rate to the first half's, without slices with
   * kills.
   */
  private static final double STEADY_MIN = 0.7;

  /** Number of regions beyond the capacity, whose clients may not have left yet. */
  private static final int LEAVING_MAX = 3;

  private static final Duration SAMPLE = Duration.ofMillis(100);

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String what() {
    return "a store of fixed size that two processes overwrite many times (50; with --quick 10),"
        + " uniform and Zipfian, with kills of them and of the server, loses nothing and stays"
        + " steady and bounded";
  }

  private static int times(Context context) {
    return context.quick() ? QUICK_TIMES : TIMES;
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    Figures figures =
        new Figures("overwritten " + times(context) + " times, " + LIVE_PERCENT + "% live");
    Report report = context.report().add(figures);
    for (String distribution : List.of("uniform", "zipfian")) {
      try (Run run = new Run(context, distribution)) {
        run.run();
        run.tell(report, figures.row(distribution));
      } catch (IOException e) {
        throw new ProcessException("overwrite: " + e.getMessage(), e);
      }
    }
    return report;
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
      note();
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

    /** One slice. A worker is killed in two slices, the server in two others. */
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
          note();
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
      bytesMax = Math.max(bytesMax, LogFileSizes.bytes(store.data()));
      try {
        Thread.sleep(SAMPLE.toMillis());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new ProcessException("interrupted", e);
      }
    }

    /** Adds the figures of the current server. */
    private void note() {
      try (ErdaClient client = store.connect()) {
        var figures = client.stats();
        copied += StatsFigures.figure(figures, "cleaner.bytes.copied");
        published += StatsFigures.figure(figures, "objects.bytes.published");
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

    void tell(Report report, Figures.Row row) {
      row.add(
          count("puts", workers.stream().mapToLong(Overwriter::done).sum()),
          perSecond("bytes, first half", half(false)),
          perSecond("bytes, second half", half(true)),
          ratio("second half / first", half(true) / half(false)).atLeast(STEADY_MIN),
          number("copied per byte", copied / (double) published),
          bytes("capacity", capacity),
          bytes("files at most", bytesMax).atMost(capacity + LEAVING_MAX * regionBytes).atAnySize(),
          count("kills", kills));
      report.given(
          distribution + "BytesPerSecond", rates.stream().mapToDouble(rate -> rate).toArray());
      findings.forEach(what -> report.miss(distribution + ": " + what));
    }

    @Override
    public void close() {
      workers.forEach(Overwriter::close);
    }
  }
}
