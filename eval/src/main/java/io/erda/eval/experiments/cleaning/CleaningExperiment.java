package io.erda.eval.experiments.cleaning;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.client.ErdaClient;
import io.erda.console.Numbers;
import io.erda.eval.Experiment;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import io.erda.eval.plot.LinePlot;
import io.erda.eval.process.ProcessException;
import io.erda.eval.report.Part;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.ServerFigures;
import io.erda.eval.report.Table;
import io.erda.eval.report.Words;
import io.erda.protocol.PutMode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What cleaning costs those who read and write meanwhile: one client thread at half its full rate,
 * windows with cleaning and without in turn, on a store whose puts publish last and then on one
 * whose puts announce first, of which nothing is expected. In the Erda paper's section 5.4 reads
 * get slower while the log is cleaned, because they go to the server; here they stay one-sided.
 */
public final class CleaningExperiment implements Experiment {
  private static final String NAME = "cleaning";
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
    return "p99 of gets and puts at half the full rate, while the log is cleaned and while not; at"
        + " most 1.2 and 2 times; the same where puts announce first, of which nothing is expected";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int objects = context.quick() ? 20_000 : 200_000;
    int pairs = context.quick() ? 2 : 7;
    int points = context.quick() ? 10 : 40;
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    MemorySegment[] keys = Dataset.keys(dataset.sequence(context.quick() ? 1 << 15 : 1 << 18, 11));
    MemorySegment value = Arena.ofAuto().allocate(VALUE_BYTES, 8).copyFrom(dataset.value(1));
    Told told = new Told();
    for (PutMode mode : PutMode.values()) {
      Windows windows = measure(context, mode, dataset, keys, value, pairs, points);
      told.add(mode, windows);
    }
    return told.report();
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

  /** What was measured, window by window. */
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

    /** Operations that were asked for in a second. */
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

    /** How much a page of what was copied, or more, cost the server in page faults. */
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
      bytesCopied = ServerFigures.figure(figures, "cleaner.bytes.copied");
      cleanings = ServerFigures.figure(figures, "cleaner.cleanings");
      reused = ServerFigures.figure(figures, "cleaner.regions.reused");
      faults = PageFaults.of(pid);
      return ServerFigures.figure(figures, "cleaner.phase") != 0;
    }

    private void span(double from, double to) {
      if (!spans.isEmpty() && from - spans.getLast()[1] < 0.002) {
        spans.getLast()[1] = to;
      } else {
        spans.add(new double[] {from, to});
      }
    }

    /** Until the cleaning that was asked for last is over. */
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

  private static double medianRatio(Windows windows, boolean puts) {
    double[] ratios = new double[windows.on.size()];
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] = p99(windows.on.get(i), puts) / p99(windows.off.get(i), puts);
    }
    return Rounds.median(ratios);
  }

  private static double median(List<PacedLoad.Times> windows, boolean puts) {
    return Rounds.median(windows.stream().mapToDouble(times -> p99(times, puts)).toArray());
  }

  private static String named(PutMode mode) {
    return mode == PutMode.PUBLISH ? "publish last" : "announce first";
  }

  /** What is told of both kinds of puts. */
  private static final class Told {
    private final List<Part> parts = new ArrayList<>();
    private final ObjectNode json = new ObjectMapper().createObjectNode();
    private final List<String> missed = new ArrayList<>();

    void add(PutMode mode, Windows windows) {
      boolean publishes = mode == PutMode.PUBLISH;
      ObjectNode node = publishes ? json : json.putObject("announceFirst");
      parts.add(words("Puts " + named(mode), windows));
      Table table = new Table("p99", "without", "cleaning", "median ratio", "at most");
      node.put("fullRateOpsPerSecond", 2 * windows.askedPerSecond)
          .put("busyShare", windows.busyShare());
      node.put("bytesCopied", windows.bytesCopied);
      node.put("cleanings", windows.cleanings).put("filesUsedAgain", windows.reused);
      node.put("serverFaultsPerPageCopied", windows.faultsPerPageCopied());
      for (boolean puts : new boolean[] {false, true}) {
        String name = puts ? "put" : "get";
        double max = puts ? PUT_RATIO_MAX : GET_RATIO_MAX;
        double ratio = medianRatio(windows, puts);
        table.row(
            name,
            Numbers.time(median(windows.off, puts)),
            Numbers.time(median(windows.on, puts)),
            Numbers.decimal(ratio),
            publishes ? max : "");
        ObjectNode times = node.putObject(name).put("medianRatio", ratio);
        windows(times.putArray("withoutNs"), windows.off, puts);
        windows(times.putArray("cleaningNs"), windows.on, puts);
        if (publishes && ratio > max) {
          missed.add(
              String.format(
                  Locale.ROOT,
                  "the p99 of %ss is %.2f times as long while the log is cleaned, expected at most"
                      + " %.1f",
                  name,
                  ratio,
                  max));
        }
      }
      if (publishes && windows.busyShare() < BUSY_MIN) {
        missed.add(
            String.format(
                Locale.ROOT,
                "cleaning was at work %.0f%% of its windows, must be at least half",
                100 * windows.busyShare()));
      }
      table.row(
          "either, from when it was due",
          Numbers.time(lateness(windows.off)),
          Numbers.time(lateness(windows.on)),
          "",
          "");
      node.putObject("fromDue")
          .put("withoutNs", lateness(windows.off))
          .put("cleaningNs", lateness(windows.on));
      parts.addAll(List.of(table, plot(windows)));
    }

    Report report() {
      return Report.of(parts, json, missed);
    }
  }

  private static Words words(String puts, Windows windows) {
    return new Words(
        String.format(
            Locale.ROOT,
            "%s: %,.0f operations/s, half of the full rate; cleaning at work %.0f%% of its windows,"
                + " %,d MB copied; %,d of %,d regions' files used again; %.2f page faults of"
                + " the server for each page copied",
            puts,
            windows.askedPerSecond,
            100 * windows.busyShare(),
            windows.bytesCopied >> 20,
            windows.reused,
            windows.cleanings,
            windows.faultsPerPageCopied()));
  }

  /** Grows without bound where a store can't keep up with the rate. */
  private static double lateness(List<PacedLoad.Times> windows) {
    return Rounds.median(
        windows.stream().mapToDouble(times -> times.due().getValueAtPercentile(99)).toArray());
  }

  private static void windows(ArrayNode array, List<PacedLoad.Times> windows, boolean puts) {
    windows.forEach(times -> array.add(p99(times, puts)));
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
