package io.erda.eval.peers;

import static io.erda.eval.report.Figure.count;
import static io.erda.eval.report.Figure.ns;
import static io.erda.eval.report.Figure.perSecond;
import static io.erda.eval.report.Figure.words;

import io.erda.console.Numbers;
import io.erda.eval.load.LoadResult;
import io.erda.eval.load.Percentiles;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.plot.BarPlot;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Unit;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** The figures as text, as JSON and as a plot. */
final class YcsbReport {
  /** The fewest operations for a meaningful 99.9th percentile. */
  private static final long COUNT_FOR_P999 = 10_000;

  /** A system that does less than this share of the due operations does not keep the rate. */
  private static final double KEPT_MIN = 0.99;

  private final Stage stage;
  private final List<PeerSystem> systems;
  private final YcsbFigures figures;
  private final Survival survival;

  YcsbReport(Stage stage, List<PeerSystem> systems, YcsbFigures figures, Survival survival) {
    this.stage = stage;
    this.systems = systems;
    this.figures = figures;
    this.survival = survival;
  }

  Report report() {
    Report report =
        stage
            .report()
            .nothingExpected()
            .given("objects", YcsbExperiment.objects(stage))
            .given("valueBytes", stage.sizes().kib().valueBytes())
            .given("turnSeconds", seconds(stage.sizes().turn()))
            .given("pacedTurnSeconds", seconds(YcsbExperiment.paced(stage)))
            .given("pacedIntervalNs", YcsbExperiment.INTERVAL.toNanos())
            .words(
                String.format(
                    Locale.ROOT,
                    "By YCSB, one thread, %s objects of 1 KiB, one field each: operations a"
                        + " second, one after the other, and how long reads of C and updates of A"
                        + " took; %s of %.2f s, after %.2f s of each workload. The"
                        + " load is by a fresh JVM, once. An update's time has the making of its"
                        + " random bytes in it, a read's their copy for YCSB; the last row shows"
                        + " what that takes. What a store does in threads of its own behind updates"
                        + " (RocksDB's flushes) it does between the turns.",
                    Numbers.count(YcsbExperiment.objects(stage)),
                    Rounds.inWords(stage.rounds()),
                    seconds(stage.sizes().turn()),
                    seconds(YcsbExperiment.warmUp(stage))))
            .add(byYcsb(systems))
            .words(
                String.format(
                    Locale.ROOT,
                    "Without YCSB, keys uniform, a get and a put in turns, %s operations a second"
                        + " in all, each timed from when it was due: who is late makes those behind"
                        + " late, too: %s of %.2f s, and the longest of all. The thread spins until"
                        + " an operation is due, and leaves its core to no server that sleeps"
                        + " meanwhile.",
                    Numbers.count(perSecondDue()),
                    Rounds.inWords(stage.rounds()),
                    seconds(YcsbExperiment.paced(stage))))
            .add("paced", paced())
            .given("times", times());
    tellWhoDidNotKeepTheRate(report);
    if (stage.context().quick()) {
      report.words("A quick run is too short for stores and compilers to be warm.");
    }
    stage.addLeftOut(report);
    survival.judge(report);
    // Compared with the harness alone the bars of stores would be short.
    Figures stores = byYcsb(systems.stream().filter(PeerSystem::isStore).toList());
    return report.add(BarPlot.of("By YCSB: median and range", stores, Unit.PER_SECOND));
  }

  private static double seconds(Duration time) {
    return time.toMillis() / 1e3;
  }

  private static double perSecondDue() {
    return 1e9 / YcsbExperiment.INTERVAL.toNanos();
  }

  private static String letter(String workload) {
    return workload.substring("workload".length()).toUpperCase(Locale.ROOT);
  }

  private Figures byYcsb(List<PeerSystem> some) {
    Figures table = new Figures("system");
    for (PeerSystem system : some) {
      Percentiles reads = figures.times(system, "workloadc", LoadResult::read);
      Percentiles updates = figures.times(system, "workloada", LoadResult::update);
      Figures.Row row =
          table
              .row(stage.title(system))
              .add(perSecond("load", figures.perSecond(system, YcsbFigures.LOAD)));
      YcsbExperiment.WORKLOADS.forEach(
          workload -> row.add(perSecond(letter(workload), figures.perSecond(system, workload))));
      row.add(
          ns("C: read p50", reads.p50()),
          ns("C: p99", reads.p99()),
          ns("A: update p50", updates.p50()),
          ns("A: p99", updates.p99()),
          count("failed", figures.errors(system)).atMost(0).atAnySize(),
          words("a put survives", survival.shown(system)));
    }
    return table;
  }

  private Figures paced() {
    Figures table = new Figures("system");
    for (PeerSystem system : systems) {
      Figures.Row row = table.row(stage.title(system));
      add(row, "get ", figures.times(system, YcsbFigures.PACED, LoadResult::read));
      add(row, "put ", figures.times(system, YcsbFigures.PACED, LoadResult::update));
    }
    return table;
  }

  /** The latencies of all workloads, for programs. */
  private Figures times() {
    Figures table = new Figures("workload", "system");
    for (String workload : YcsbExperiment.WORKLOADS) {
      for (PeerSystem system : systems) {
        Figures.Row row = table.row(workload, stage.title(system));
        add(row, "read ", figures.times(system, workload, LoadResult::read));
        add(row, "update ", figures.times(system, workload, LoadResult::update));
      }
    }
    return table;
  }

  /** Adds latencies, if there were such operations. */
  private static void add(Figures.Row row, String operation, Percentiles times) {
    if (times.count() > 0) {
      row.add(
          ns(operation + "p50", times.p50()),
          ns(operation + "p99", times.p99()),
          ns(operation + "p99.9", times.count() < COUNT_FOR_P999 ? Double.NaN : times.p999()),
          ns(operation + "longest", times.max()));
    }
  }

  /**
   * Names the systems that did not keep the rate, whose times only show the length of the queue.
   */
  private void tellWhoDidNotKeepTheRate(Report report) {
    for (PeerSystem system : systems) {
      double done = Rounds.median(figures.perSecond(system, YcsbFigures.PACED));
      if (done < KEPT_MIN * perSecondDue()) {
        report.words(
            stage.title(system)
                + " did not keep the rate, but "
                + Numbers.count(done)
                + " operations a second.");
      }
    }
  }
}
