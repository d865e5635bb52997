package io.erda.eval.experiments.cleaning;

import static io.erda.eval.report.Figure.bytes;
import static io.erda.eval.report.Figure.count;
import static io.erda.eval.report.Figure.ns;
import static io.erda.eval.report.Figure.number;
import static io.erda.eval.report.Figure.perSecond;
import static io.erda.eval.report.Figure.ratio;
import static io.erda.eval.report.Figure.share;

import io.erda.client.ErdaClient;
import io.erda.console.Numbers;
import io.erda.eval.Experiment;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import io.erda.eval.plot.LinePlot;
import io.erda.eval.process.ProcessException;
import io.erda.eval.report.Figure;
import io.erda.eval.report.Figures;
import io.erda.eval.report.InThePaper;
import io.erda.eval.report.Prose;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.StatsFigures;
import io.erda.protocol.PutMode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The cost of cleaning for concurrent reads and writes: one client thread at half its full rate,
 * windows with cleaning and without in turn, on a store whose puts publish last and then on one
 * whose puts announce first, which has no goals. In the Erda paper's section 5.4 reads get slower
 * while the log is cleaned, because they go to the server; here they stay one-sided.
 */
public final class CleaningExperiment implements Experiment {
  private static final String NAME = "cleaning";
  private static final InThePaper IN_THE_PAPER =
      new InThePaper(
          "This stands in figure 26 of “Write-Optimized and Consistent RDMA-based NVM Systems”, as"
              + " the latency of four workloads with values of 1 KiB.",
          new Prose(
              "Updates alone take about as long while the log is cleaned as they do else. Reads"
                  + " take longer, because they go to the server meanwhile."));
  private static final double GET_RATIO_MAX = 1.2;
  private static final double PUT_RATIO_MAX = 2;
  private static final double BUSY_MIN = 0.5;
  private static final int VALUE_BYTES = 1024;
  private static final long REGION_BYTES = 64L << 20;
  private static final int SAMPLE_MS = 10;
  private static final int SAMPLES_PER_POINT = 10;
  private static final long SETTLE_NS = 30_000_000_000L;

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String what() {
    return "at half the full rate the p99 of gets and puts is at most 1.2 and 2 times as long while"
        + " the log is cleaned as while it is not; of puts that announce first nothing is expected";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int objects = context.quick() ? 20_000 : 200_000;
    int pairs = context.quick() ? 2 : 7;
    int points = context.quick() ? 10 : 40;
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    MemorySegment[] keys = Dataset.keys(dataset.sequence(context.quick() ? 1 << 15 : 1 << 18, 11));
    MemorySegment value = Arena.ofAuto().allocate(VALUE_BYTES, 8).copyFrom(dataset.value(1));
    Report report = context.report();
    for (PutMode mode : PutMode.values()) {
      Windows windows = measure(context, mode, dataset, keys, value, pairs, points);
      tell(report, mode, windows);
    }
    return report.add(IN_THE_PAPER);
  }

  private static Windows measure(
      Context context,
      PutMode mode,
      Dataset dataset,
      MemorySegment[] keys,
      MemorySegment value,
      int pairs,
      int points)
      throws InterruptedException {
    List<String> creation = new ArrayList<>(ServedStore.putting(mode));
    creation.addAll(
        List.of(
            "--heads",
            "1",
            "--region-bytes",
            Long.toString(REGION_BYTES),
            "--capacity",
            "12G",
            "--buckets",
            Long.toString(Long.highestOneBit(dataset.objects()) * 4)));
    try (ServedStore store = ServedStore.create(context, NAME, creation);
        ErdaClient control = store.connect();
        PacedLoad load = new PacedLoad(store.connect(), keys, value)) {
      Windows windows = new Windows(store.server().pid());
      dataset.load(control, context.progress());
      context.progress().step("the full rate of puts that " + named(mode));
      load.fullRate(context.quick() ? 500_000_000L : 2_000_000_000L);
      double fullRate = load.fullRate(context.quick() ? 500_000_000L : 2_000_000_000L);
      context.progress().done(Numbers.count(fullRate) + " operations/s");
      context.progress().step("windows without and with cleaning");
      windows.askedPerSecond = fullRate / 2;
      load.start(windows.askedPerSecond);
      windows.window(control, load, false, points / 2);
      windows.forget();
      for (int pair = 0; pair < pairs; pair++) {
        context.progress().at("pair " + (pair + 1) + " of " + pairs);
        windows.window(control, load, false, points);
        windows.window(control, load, true, points);
        windows.settle(control, load);
      }
      context.progress().done("");
      return windows;
    }
  }

  /** The measurements, by window. */
  private static final class Windows {
    private final List<PacedLoad.Times> off = new ArrayList<>();
    private final List<PacedLoad.Times> on = new ArrayList<>();
    private final List<double[]> points = new ArrayList<>();
    private final List<double[]> spans = new ArrayList<>();
    private final long startNs = System.nanoTime();
    private final long pid;
    private long faults;
    private long samplesOn;
    private long busyOn;
    private long bytesCopied;
    private long cleanings;
    private long reused;

    /** The server's page faults in windows with cleaning. */
    private long faultsOn;

    private long copiedOn;

    /** Operations per second that were scheduled. */
    private double askedPerSecond;

    void window(ErdaClient control, PacedLoad load, boolean cleaning, int count)
        throws InterruptedException {
      load.take();
      busy(control);
      long faultsBefore = faults;
      long copiedBefore = bytesCopied;
      PacedLoad.Times all = null;
      for (int i = 0; i < count; i++) {
        PacedLoad.Times times = point(control, load, cleaning);
        if (all == null) {
          all = times;
        } else {
          all.add(times);
        }
      }
      (cleaning ? on : off).add(all);
      busy(control);
      if (cleaning) {
        faultsOn += faults - faultsBefore;
        copiedOn += bytesCopied - copiedBefore;
      }
    }

    /** The server's page faults for each page that was copied, at most. */
    double faultsPerPageCopied() {
      return faultsOn / Math.max(1, copiedOn / 4096.0);
    }

    private PacedLoad.Times point(ErdaClient control, PacedLoad load, boolean cleaning)
        throws InterruptedException {
      for (int i = 0; i < SAMPLES_PER_POINT; i++) {
        boolean busy = busy(control);
        if (cleaning) {
          samplesOn++;
          busyOn += busy ? 1 : 0;
          if (!busy) {
            control.clean(-1);
          }
        }
        double now = seconds();
        Thread.sleep(SAMPLE_MS);
        if (busy) {
          span(now, seconds());
        }
      }
      PacedLoad.Times times = load.take();
      points.add(
          new double[] {
            seconds(),
            times.gets().getValueAtPercentile(99),
            times.puts().getValueAtPercentile(99),
            times.due().getValueAtPercentile(99)
          });
      return times;
    }

    private boolean busy(ErdaClient control) {
      Map<String, Long> figures = control.stats();
      bytesCopied = StatsFigures.figure(figures, "cleaner.bytes.copied");
      cleanings = StatsFigures.figure(figures, "cleaner.cleanings");
      reused = StatsFigures.figure(figures, "cleaner.regions.reused");
      faults = PageFaults.of(pid);
      return StatsFigures.figure(figures, "cleaner.phase") != 0;
    }

    private void span(double from, double to) {
      if (!spans.isEmpty() && from - spans.getLast()[1] < 0.002) {
        spans.getLast()[1] = to;
      } else {
        spans.add(new double[] {from, to});
      }
    }

    /** Waits until the requested cleaning is over. */
    void settle(ErdaClient control, PacedLoad load) throws InterruptedException {
      long untilNs = System.nanoTime() + SETTLE_NS;
      while (busy(control)) {
        if (System.nanoTime() - untilNs > 0) {
          throw new ProcessException("a cleaning does not end");
        }
        point(control, load, false);
      }
    }

    Windows(long pid) {
      this.pid = pid;
    }

    void forget() {
      faultsOn = 0;
      copiedOn = 0;
      off.clear();
      on.clear();
    }

    private double seconds() {
      return (System.nanoTime() - startNs) / 1e9;
    }

    double busyShare() {
      return busyOn / (double) samplesOn;
    }
  }

  private static double p99(PacedLoad.Times times, boolean puts) {
    return (puts ? times.puts() : times.gets()).getValueAtPercentile(99);
  }

  private static double[] p99s(List<PacedLoad.Times> windows, boolean puts) {
    return windows.stream().mapToDouble(times -> p99(times, puts)).toArray();
  }

  private static String named(PutMode mode) {
    return mode == PutMode.PUBLISH ? "publish last" : "announce first";
  }

  /** Reports the results; puts that announce first have no goals. */
  private static void tell(Report report, PutMode mode, Windows windows) {
    boolean publishes = mode == PutMode.PUBLISH;
    Figure busy = share("cleaning at work, of its windows", windows.busyShare());
    Figures about =
        Figures.list("puts that " + named(mode))
            .add(
                perSecond("operations, half of the full rate", windows.askedPerSecond),
                publishes ? busy.atLeast(BUSY_MIN) : busy,
                bytes("copied", windows.bytesCopied),
                count("cleanings", windows.cleanings),
                count("files of regions used again", windows.reused),
                number(
                    "page faults of the server for a page copied", windows.faultsPerPageCopied()));
    Figures figures = new Figures("p99");
    for (boolean puts : new boolean[] {false, true}) {
      double[] off = p99s(windows.off, puts);
      double[] on = p99s(windows.on, puts);
      Figure ratio = ratio("cleaning / without", Rounds.ratios(on, off));
      figures
          .row(puts ? "put" : "get")
          .add(
              ns("without", off),
              ns("cleaning", on),
              publishes ? ratio.atMost(puts ? PUT_RATIO_MAX : GET_RATIO_MAX) : ratio);
    }
    figures
        .row("either, from when it was due")
        .add(ns("without", lateness(windows.off)), ns("cleaning", lateness(windows.on)));
    String name = publishes ? "publishLast" : "announceFirst";
    report.add(name, about).add(name, figures).add(plot(windows));
  }

  /** The lateness of operations; grows without bound when a store can't keep up with the rate. */
  private static double lateness(List<PacedLoad.Times> windows) {
    return Rounds.median(
        windows.stream().mapToDouble(times -> times.due().getValueAtPercentile(99)).toArray());
  }

  private static LinePlot plot(Windows windows) {
    double[] seconds = windows.points.stream().mapToDouble(point -> point[0]).toArray();
    LinePlot plot =
        new LinePlot(
                "Latency of one client at half its full rate, 99th percentile;"
                    + " shaded: the log is cleaned",
                "seconds",
                "ns")
            .logarithmic()
            .panel("")
            .curve("get", seconds, column(windows, 1))
            .curve("put", seconds, column(windows, 2))
            .curve("either, from when it was due", seconds, column(windows, 3));
    windows.spans.forEach(span -> plot.shade(span[0], span[1]));
    return plot;
  }

  private static double[] column(Windows windows, int column) {
    return windows.points.stream().mapToDouble(point -> Math.max(1, point[column])).toArray();
  }
}
