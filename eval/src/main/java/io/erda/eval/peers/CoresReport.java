package io.erda.eval.peers;

import io.erda.eval.peers.Column.Cell;
import io.erda.eval.peers.Column.Scale;
import io.erda.eval.peers.process.KeyChoice;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.plot.LinePlot;
import io.erda.eval.report.Figure;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Unit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** The figures of {@link CoresExperiment}: tables, curves, and goals where they can be judged. */
final class CoresReport {
  /** With fewer cores no goal is judged. */
  static final int JUDGED_CORES = 16;

  /** Goals are judged with so many threads, which leave cores to the server. */
  static final int JUDGED_THREADS = 12;

  private final Stage stage;
  private final int cores;
  private final CoresFigures figures;
  private final List<Integer> threadCounts;

  CoresReport(Stage stage, int cores, CoresFigures figures) {
    this.stage = stage;
    this.cores = cores;
    this.figures = figures;
    this.threadCounts = CoresExperiment.threadCounts(cores);
  }

  Report report() {
    double turnSeconds = stage.sizes().turn().toMillis() / 1e3;
    double writtenSeconds = stage.sizes().firstPuts().toMillis() / 1e3;
    Report report =
        stage
            .report()
            .given("cores", cores)
            .given("turnSeconds", turnSeconds)
            .given("secondsOfPutsBefore", writtenSeconds)
            .words(
                String.format(
                    Locale.ROOT,
                    "This machine has %d cores, which clients and servers share. One process has"
                        + " the threads, each with a client of its own. Shown are operations a"
                        + " second of all threads together, %s%s. A turn takes %.2f s, of which the"
                        + " first 30%% are not counted. Before, each store is loaded, and %d"
                        + " threads update it for %.1f s. Inserts have stores of their own, a turn"
                        + " inserts at most as many objects as the other stores have, and the"
                        + " pages that they write are fresh.",
                    cores,
                    Rounds.inWords(stage.rounds()),
                    stage.rounds() == 1
                        ? ""
                        : ", and of each row the widest range from the least round to the most,"
                            + " beside the median",
                    turnSeconds,
                    threadCounts.getLast(),
                    writtenSeconds));
    report.words(
        stage.available(CoresExperiment.SYSTEMS).stream()
            .map(stage::title)
            .collect(Collectors.joining("; ", "Measured are: ", ".")));
    for (KeyChoice keys : KeyChoice.values()) {
      for (Scale scale : CoresExperiment.SCALES) {
        tell(report, keys, scale);
      }
    }
    tellGoals(report);
    if (stage.context().quick()) {
      report.words("A quick run is too short for stores and compilers to be warm.");
    }
    stage.addLeftOut(report, CoresExperiment.SYSTEMS);
    return report;
  }

  private void tell(Report report, KeyChoice keys, Scale scale) {
    Figures table =
        new Figures("operations", "system")
            .along(
                "operations",
                Unit.PER_SECOND,
                "threads",
                threadCounts.stream().mapToDouble(threads -> threads).toArray());
    for (CoresLoad load : CoresLoad.values()) {
      if (load.keys() == keys) {
        for (PeerSystem system : stage.available(CoresExperiment.SYSTEMS)) {
          table
              .row(load.title(), system.title().split(",", 2)[0])
              .rounds(
                  threadCounts.stream()
                      .map(threads -> figures.of(scale, load, system, threads))
                      .toArray(double[][]::new));
        }
      }
    }
    Cell cell = stage.sizes().cell(scale);
    String what = "Keys: " + keys.title() + "; values: " + cell.title();
    String name = keys.name().toLowerCase(Locale.ROOT) + cell.valueTitle().replace(" ", "");
    report.words(what + ".").add(name, table);
    LinePlot plot = LinePlot.of(what + ": operations a second by threads", table);
    if (keys == KeyChoice.UNIFORM && scale == Scale.SMALL) {
      report.picture(plot);
    } else {
      report.add(plot);
    }
  }

  private void tellGoals(Report report) {
    Optional<String> unjudged = whyNotJudged();
    int threads = threadCounts.contains(JUDGED_THREADS) ? JUDGED_THREADS : cores;
    String beside = CoresGoal.BESIDE.title();
    Figures goals = new Figures("goal", "operations", "keys", "values");
    for (CoresGoal goal : CoresGoal.ALL) {
      Figure ratio = goal.ratio(figures, threads);
      Figure judged = unjudged.isPresent() ? ratio : ratio.atLeast(goal.ratioMin());
      String values = stage.sizes().cell(goal.scale()).title();
      goals
          .row(goal.system().title(), goal.load().title(), goal.load().keys().title(), values)
          .add(judged);
      if (goal.isHeadline() && unjudged.isEmpty()) {
        report.headline(
            String.format(
                Locale.ROOT,
                "%s, %s: %d threads on %s, beside %s",
                goal.load().title(),
                values,
                threads,
                goal.system().title(),
                beside),
            judged);
      }
    }
    report
        .words(
            String.format(
                Locale.ROOT,
                "Operations a second of Erda beside those of %s, %d threads:",
                beside,
                threads))
        .add("goals", goals);
    unjudged.ifPresent(why -> report.words(why + ".").notJudged(why));
  }

  /** Why this run judges no goal; empty when it does. */
  private Optional<String> whyNotJudged() {
    if (cores < JUDGED_CORES) {
      return Optional.of(
          "goals are judged on " + JUDGED_CORES + " cores or more, and this machine has " + cores);
    }
    return stage
        .libraries()
        .missing(CoresGoal.BESIDE)
        .map(why -> "goals are judged beside " + CoresGoal.BESIDE.title() + ": " + why);
  }
}
