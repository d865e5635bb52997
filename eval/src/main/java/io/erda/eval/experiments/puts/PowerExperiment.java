package io.erda.eval.experiments.puts;

import static io.erda.eval.report.Figure.perSecond;
import static io.erda.eval.report.Figure.ratio;

import io.erda.eval.Experiment;
import io.erda.eval.load.LoadChild;
import io.erda.eval.load.LoadPhase;
import io.erda.eval.load.YcsbStore;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import java.util.List;

/**
 * The cost of puts that survive a power failure, on ordinary files: a put waits for the disk twice,
 * for its object and for its word, and eight clients wait together. Puts of one key wait for each
 * other, so keys are drawn uniformly.
 */
public final class PowerExperiment implements Experiment {
  private static final int CLIENTS = 8;
  private static final double RATIO_MIN = 4;
  private static final String ONE = "one client";
  private static final String EIGHT = "eight clients";
  private static final List<String> PROMISE = List.of("--promise", "power");

  @Override
  public String name() {
    return "power";
  }

  @Override
  public String what() {
    return "8 clients do at least 4 times as many uniform updates with --promise power as one, in"
        + " the median of 5 interleaved rounds";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    long records = context.quick() ? 500 : 5_000;
    long operations = context.quick() ? 200 : 2_000;
    try (YcsbStore store = YcsbStore.start(context, records, 1_000_000, CLIENTS, PROMISE)) {
      LoadChild load = store.newLoad();
      context.progress().step("one client, eight clients");
      Rounds rounds =
          new Rounds()
              .measure(ONE, () -> rate(load, store, 1, operations))
              .measure(EIGHT, () -> rate(load, store, CLIENTS, CLIENTS * operations))
              .run(1, context.quick() ? 1 : 5, context.progress());
      context.progress().done("");
      load.end();
      return tell(context.report(), rounds);
    }
  }

  private static double rate(LoadChild load, YcsbStore store, int threads, long operations) {
    LoadPhase updates = store.uniform("updateonly", threads, operations);
    return load.run(updates.withWarmup(operations / 5), done -> {}).throughputOpsPerSecond();
  }

  private static Report tell(Report report, Rounds rounds) {
    Figures figures = new Figures("clients");
    figures.row(ONE).add(perSecond("updates", rounds.values(ONE)));
    figures
        .row(EIGHT)
        .add(
            perSecond("updates", rounds.values(EIGHT)),
            ratio("beside one", rounds.median(EIGHT) / rounds.median(ONE)).atLeast(RATIO_MIN));
    return report.add(figures);
  }
}
