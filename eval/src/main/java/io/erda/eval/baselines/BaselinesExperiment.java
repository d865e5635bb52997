package io.erda.eval.baselines;

import static io.erda.eval.report.Figure.ns;
import static io.erda.eval.report.Figure.perSecond;
import static io.erda.eval.report.Figure.ratio;

import io.erda.console.Numbers;
import io.erda.eval.Experiment;
import io.erda.eval.floor.Floor;
import io.erda.eval.load.Dataset;
import io.erda.eval.process.DeviceChoice;
import io.erda.eval.report.Figure;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.rdma.Poller;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Erda, with its own puts and with the paper's, beside Redo Logging and Read After Write with
 * objects of 1 KiB and one client: the same objects and the same keys, by one device, round after
 * round in one run. Processor time is that of all threads of the server, polling included; over
 * shared memory a shorter run behind it tells it apart from polling, and each time is shown beside
 * the least time that the operation can take. Embedded stores, which are in this process, have no
 * goals.
 */
public final class BaselinesExperiment implements Experiment {
  private static final int VALUE_BYTES = 1024;
  private static final double P50_RATIO_MAX = 0.7;
  private static final double CPU_RATIO_MAX_B = 1 / 20.0;
  private static final int WORK_ROUNDS = 3;
  private static final String BESIDE = "Erda beside it";
  private static final String ANNOUNCING = "announcing";
  private static final String PAPER = "in the paper";

  private final Deployment deployment;

  /**
   * The experiment at one of the places where stores can be.
   *
   * @param deployment the place
   */
  public BaselinesExperiment(Deployment deployment) {
    this.deployment = deployment;
  }

  @Override
  public String name() {
    return overShm() ? "baselines" : "baselines-" + deployment.device();
  }

  @Override
  public String what() {
    return deployment.hasServers()
        ? "Erda does at least 2 times the operations of Redo Logging and Read After Write "
            + deployment.where
            + " in YCSB-C and B, 1.5 times in A and 1.2 times in updates alone, with at most 0.7 of"
            + " the p50, and 1/20 of the server's processor time in B"
        : "Erda is measured beside Redo Logging and Read After Write "
            + deployment.where
            + "; nothing is expected";
  }

  private boolean overShm() {
    return deployment == Deployment.SHM;
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    Optional<String> missing = deployment.missing();
    if (missing.isPresent()) {
      return Report.skipped(missing.get());
    }
    int objects = (context.quick() ? 10_000 : 100_000) / deployment.slowness;
    int operations = (context.quick() ? 20_000 : 200_000) / deployment.slowness;
    int rounds = context.roundsOr(9, 3);
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    Report report =
        context
            .report()
            .given("device", deployment.device())
            .given("valueBytes", VALUE_BYTES)
            .given("objects", objects)
            .given("operations", operations);
    Map<PaperWorkload, List<Series>> measured = new EnumMap<>(PaperWorkload.class);
    List<? extends ComparedStore> schemes = deployment.openAll(context, dataset);
    try {
      for (PaperWorkload workload : PaperWorkload.values()) {
        context.progress().step(workload.label);
        measured.put(
            workload,
            new SideBySide(context, schemes, dataset, workload, 1, operations, rounds).run());
        context.progress().done("");
      }
    } finally {
      ComparedStore.closeAll(schemes);
    }
    Floor floor = overShm() ? Floor.of(context, dataset, ZipfianKeys.readAlone(dataset)) : null;
    report
        .add(Scheme.promises())
        .words(
            "The second table has Erda beside the row's scheme; “announcing” is Erda where it"
                + " announces first."
                + (deployment.hasServers()
                    ? ""
                    : " Erda's own puts and its gets need no message here. The others send theirs"
                        + " to a server whose steps their own thread takes; Erda cleans in a thread"
                        + " of its own."));
    Figures figures = new Figures("load", "scheme");
    Figures beside = new Figures("load", "Erda beside");
    measured.forEach((workload, series) -> tell(workload, series, floor, figures, beside, report));
    report.add(figures).add("erdaBeside", beside).add(PaperFigures.throughput());
    if (!deployment.hasServers()) {
      report.nothingExpected();
    }
    if (overShm()) {
      floor.tell(report);
      work(context, dataset, operations, Math.min(rounds, WORK_ROUNDS), report);
    }
    return report;
  }

  /** This is done in a separate run, because readings of the clock slow the servers down. */
  private void work(Context context, Dataset dataset, int operations, int rounds, Report report)
      throws InterruptedException {
    Figures figures = new Figures("load", "scheme");
    List<ServedScheme> schemes =
        ServedScheme.startAll(context, dataset, DeviceChoice.SHM, 0, Counting.WORK);
    try {
      for (PaperWorkload workload : PaperWorkload.values()) {
        context.progress().step(workload.label + ", servers at work");
        List<Series> series =
            new SideBySide(context, schemes, dataset, workload, 1, operations, rounds)
                .timed()
                .run();
        context.progress().done("");
        for (Series each : series) {
          Figures.Row row =
              figures
                  .row(workload.label, each.scheme.title)
                  .add(ns("server CPU", each.cpuNs), ns("at work", each.workNs));
          if (each.scheme != Scheme.ERDA) {
            row.add(ratio(BESIDE, work(Scheme.ERDA, series, each)));
          }
          if (each.scheme.isBaseline()) {
            row.add(
                ratio(ANNOUNCING, work(Scheme.ERDA_ANNOUNCING, series, each)),
                ratio(PAPER, 1 / PaperFigures.cpuRatio(workload, each.scheme)));
          }
        }
      }
    } finally {
      ComparedStore.closeAll(schemes);
    }
    report
        .words(
            "All servers poll, up to "
                + Numbers.time(Poller.DEFAULT_BUDGET_NS)
                + " after each request, and polling is most of their processor time. In a run of"
                + " its own, whose servers look at the clock before and after each step, this is"
                + " what those steps of an operation took that had something to do, and Erda's"
                + " work beside the row's:")
        .add("work", figures)
        .add(PaperFigures.cpu());
  }

  private void tell(
      PaperWorkload workload,
      List<Series> series,
      Floor floor,
      Figures figures,
      Figures beside,
      Report report) {
    List<Figure> throughputs = new ArrayList<>();
    for (Series each : series) {
      Figures.Row row =
          figures
              .row(workload.label, each.scheme.title)
              .add(
                  perSecond("operations", each.perSecond),
                  ns("mean", each.meanNs),
                  ns("p50", Rounds.median(each.p50Ns)),
                  ns("p99", each.latencies.getValueAtPercentile(99)));
      if (deployment.hasServers()) {
        row.add(ns("server CPU", Rounds.median(each.cpuNs)));
      }
      if (floor != null) {
        row.add(floor.beside(Rounds.median(each.meanNs), workload.updatePercent));
      }
      if (each.scheme != Scheme.ERDA) {
        Figures.Row besideIt = beside.row(workload.label, each.scheme.title);
        Figure throughput = tellBeside(workload, series, each, besideIt);
        if (each.scheme.isBaseline()) {
          throughputs.add(throughput);
        }
      }
    }
    if (overShm()) {
      report.headline(
          "operations a second in "
              + workload.label
              + " over shared memory, beside Redo Logging and Read After Write ("
              + PaperFigures.throughputInWords(workload)
              + " in the paper)",
          throughputs.toArray(Figure[]::new));
    }
  }

  /**
   * Adds the figures of Erda relative to another scheme, with goals relative to a baseline that has
   * servers.
   *
   * @return the ratio of the throughputs
   */
  private Figure tellBeside(
      PaperWorkload workload, List<Series> series, Series other, Figures.Row row) {
    Series erda = series.getFirst();
    Figure throughput = ratio("throughput", Rounds.ratios(erda.perSecond, other.perSecond));
    if (!other.scheme.isBaseline()) {
      row.add(throughput);
      return throughput;
    }
    Series announcing = series.get(Scheme.ERDA_ANNOUNCING.ordinal());
    boolean judged = deployment.hasServers();
    throughput = judged ? throughput.atLeast(throughputRatioMin(workload)) : throughput;
    row.add(
        throughput,
        ratio(ANNOUNCING, Rounds.ratios(announcing.perSecond, other.perSecond)),
        ratio(PAPER, PaperFigures.throughputRatio(workload, other.scheme)));
    Figure p50 = ratio("p50", Rounds.ratios(erda.p50Ns, other.p50Ns));
    row.add(judged && workload.updatePercent < 50 ? p50.atMost(P50_RATIO_MAX) : p50);
    if (judged) {
      Figure cpu = ratio("server CPU", Rounds.ratios(erda.cpuNs, other.cpuNs));
      row.add(workload == PaperWorkload.YCSB_B ? cpu.atMost(CPU_RATIO_MAX_B) : cpu);
    }
    return throughput;
  }

  /** Erda's work beside a scheme's; in some rounds that is 0. */
  private static double work(Scheme erda, List<Series> series, Series other) {
    return Rounds.median(series.get(erda.ordinal()).workNs) / Rounds.median(other.workNs);
  }

  private static double throughputRatioMin(PaperWorkload workload) {
    return switch (workload) {
      case YCSB_C, YCSB_B -> 2;
      case YCSB_A -> 1.5;
      case UPDATES -> 1.2;
    };
  }
}
