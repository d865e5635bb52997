package io.erda.eval.experiments.gets;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.console.Numbers;
import io.erda.eval.Experiment;
import io.erda.eval.load.LoadChild;
import io.erda.eval.load.LoadPhase;
import io.erda.eval.load.LoadResult;
import io.erda.eval.load.YcsbStore;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Table;
import java.util.List;
import java.util.Locale;

/**
 * What a second reader adds: YCSB-C with one client thread, with two, and with two processes, in
 * interleaved rounds.
 */
public final class ScalingExperiment implements Experiment {
  private static final double RATIO_MIN = 1.5;

  @Override
  public String name() {
    return "scaling";
  }

  @Override
  public String what() {
    return "YCSB-C with two client threads against one, median of 5 interleaved rounds; at least"
        + " 1.5 times";
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
              .measure("one thread", () -> rate(first, store, 1, operations))
              .measure("two threads", () -> rate(first, store, 2, 2 * operations))
              .measure("two processes", () -> rateOfTwo(first, second, store, operations))
              .run(1, context.quick() ? 1 : 5, context.progress());
      context.progress().done("");
      first.end();
      second.end();
      return report(rounds);
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

  private static Report report(Rounds rounds) {
    Table table = new Table("clients", "reads/s", "ratio");
    ObjectNode json = new ObjectMapper().createObjectNode();
    double one = rounds.median("one thread");
    for (String name : List.of("one thread", "two threads", "two processes")) {
      double rate = rounds.median(name);
      table.row(name, Numbers.count(rate), Numbers.decimal(rate / one));
      json.putObject(name.replace(' ', '_')).put("opsPerSecond", rate).put("ratio", rate / one);
    }
    double ratio = rounds.median("two threads") / one;
    List<String> missed =
        ratio >= RATIO_MIN
            ? List.of()
            : List.of(
                String.format(
                    Locale.ROOT,
                    "two threads read %.2f times as fast as one, expected at least %.1f",
                    ratio,
                    RATIO_MIN));
    return Report.of(table, json, missed);
  }
}
