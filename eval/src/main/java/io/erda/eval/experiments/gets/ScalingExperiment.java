package io.erda.eval.experiments.gets;

import static io.erda.eval.report.Figure.perSecond;
import static io.erda.eval.report.Figure.ratio;

import io.erda.eval.Experiment;
import io.erda.eval.load.LoadChild;
import io.erda.eval.load.LoadPhase;
import io.erda.eval.load.LoadResult;
import io.erda.eval.load.YcsbStore;
import io.erda.eval.report.Figure;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import java.util.List;

/**
 * The gain by a second reader: YCSB-C with one client thread, with two, and with two processes, in
 * interleaved rounds.
 */
public final class ScalingExperiment implements Experiment {
  private static final double RATIO_MIN = 1.5;
  private static final String ONE = "one thread";
  private static final String TWO = "two threads";

  @Override
  public String name() {
    return "scaling";
  }

  @Override
  public String what() {
    return "two client threads do at least 1.5 times as much of YCSB-C as one, in the median of 5"
        + " interleaved rounds";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    try (YcsbStore store = YcsbStore.start(context, context.quick() ? 10_000 : 100_000, 0)) {
      LoadChild first = store.newLoad();
      LoadChild second = store.newLoad();
      long operations = context.quick() ? 100_000 : 1_000_000;
      context.progress().step("one thread, two threads, two processes");
      Rounds rounds =
          new Rounds()
              .measure(ONE, () -> rate(first, store, 1, operations))
              .measure(TWO, () -> rate(first, store, 2, 2 * operations))
              .measure("two processes", () -> rateOfTwo(first, second, store, operations))
              .run(1, context.quick() ? 1 : 5, context.progress());
      context.progress().done("");
      first.end();
      second.end();
      return tell(context.report(), rounds);
    }
  }

  private static double rate(LoadChild load, YcsbStore store, int threads, long operations) {
    LoadResult result = load.run(phase(store, threads, operations), done -> {});
    return result.throughputOpsPerSecond();
  }

  private static double rateOfTwo(
      LoadChild first, LoadChild second, YcsbStore store, long operations) {
    first.prepare(phase(store, 1, operations));
    second.prepare(phase(store, 1, operations));
    first.go();
    second.go();
    return first.result(done -> {}).throughputOpsPerSecond()
        + second.result(done -> {}).throughputOpsPerSecond();
  }

  private static LoadPhase phase(YcsbStore store, int threads, long operations) {
    return store.phase("workloadc", threads, operations).withWarmup(operations / 5);
  }

  private static Report tell(Report report, Rounds rounds) {
    Figures figures = new Figures("clients");
    for (String name : List.of(ONE, TWO, "two processes")) {
      Figure ratio = ratio("beside one", rounds.median(name) / rounds.median(ONE));
      figures
          .row(name)
          .add(
              perSecond("reads", rounds.values(name)),
              name.equals(TWO) ? ratio.atLeast(RATIO_MIN) : ratio);
    }
    return report.add(figures);
  }
}
