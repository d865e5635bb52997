package io.erda.eval.experiments.puts;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.console.Numbers;
import io.erda.eval.Experiment;
import io.erda.eval.load.LoadChild;
import io.erda.eval.load.LoadPhase;
import io.erda.eval.load.YcsbStore;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Table;
import java.util.List;
import java.util.Locale;

/**
 * What puts cost that survive the loss of power, on ordinary files: a put waits for the disk twice,
 * for its object and for its word, and eight clients wait together. Two puts of one key wait one
 * after the other, so keys are drawn evenly.
 */
public final class PowerExperiment implements Experiment {
  private static final int CLIENTS = 8;
  private static final double RATIO_MIN = 4;
  private static final List<String> PROMISE = List.of("--promise", "power");

  @Override
  public String name() {
    return "power";
  }

  @Override
  public String what() {
    return "uniform updates with --promise power by 8 clients against one, median of 5 interleaved"
        + " rounds; at least 4 times";
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
              .measure("one client", () -> rate(load, store, 1, operations))
              .measure("eight clients", () -> rate(load, store, CLIENTS, CLIENTS * operations))
              .run(1, context.quick() ? 1 : 5, context.progress());
      context.progress().done("");
      load.end();
      return report(rounds);
    }
  }

  private static double rate(LoadChild load, YcsbStore store, int threads, long operations) {
    LoadPhase updates = store.uniform("updateonly", threads, operations);
    return load.run(updates.withWarmup(operations / 5), done -> {}).throughputOpsPerSecond();
  }

  private static Report report(Rounds rounds) {
    Table table = new Table("clients", "updates/s", "ratio");
    ObjectNode json = new ObjectMapper().createObjectNode();
    double one = rounds.median("one client");
    for (String name : List.of("one client", "eight clients")) {
      double rate = rounds.median(name);
      table.row(name, Numbers.count(rate), Numbers.decimal(rate / one));
      json.putObject(name.replace(' ', '_')).put("opsPerSecond", rate).put("ratio", rate / one);
    }
    double ratio = rounds.median("eight clients") / one;
    List<String> missed =
        ratio >= RATIO_MIN
            ? List.of()
            : List.of(
                String.format(
                    Locale.ROOT,
                    "eight clients update %.2f times as fast as one, expected at least %.1f",
                    ratio,
                    RATIO_MIN));
    return Report.of(table, json, missed);
  }
}
