package io.erda.eval.paper;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.eval.Experiment;
import io.erda.eval.load.Dataset;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Erda beside Redo Logging and Read After Write with objects of 1 KiB and one client: the same
 * objects and the same keys, by one device, round after round in one run. Processor time is that of
 * all threads of the server.
 */
public final class BaselinesExperiment implements Experiment {
  private static final int VALUE_BYTES = 1024;
  private static final double P50_RATIO_MAX = 0.7;
  private static final double CPU_RATIO_MAX_B = 1 / 20.0;

  private final String device;

  /**
   * @param device by which all are reached: {@code shm} or {@code tcp}
   */
  public BaselinesExperiment(String device) {
    this.device = device;
  }

  @Override
  public String name() {
    return overShm() ? "baselines" : "baselines-" + device;
  }

  @Override
  public String what() {
    return "Erda beside Redo Logging and Read After Write over "
        + (overShm() ? "shared memory" : "TCP on loopback")
        + ": at least 2 times the throughput of YCSB-C and B, 1.5 times of A, 1.2 times of updates"
        + " alone; at most 0.7 of the p50, and 1/20 of the server's processor time in B";
  }

  private boolean overShm() {
    return device.equals("shm");
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int slower = overShm() ? 1 : 10;
    int objects = (context.quick() ? 10_000 : 100_000) / slower;
    int operations = (context.quick() ? 20_000 : 200_000) / slower;
    int rounds = context.rounds() > 0 ? context.rounds() : context.quick() ? 3 : 9;
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    Table table =
        new Table("load", "scheme", "op/s", "p50", "p99", "server CPU/op", "Erda is", "paper");
    ObjectNode json = new ObjectMapper().createObjectNode();
    json.put("device", device).put("valueBytes", VALUE_BYTES);
    json.put("objects", objects).put("operations", operations);
    List<String> missed = new ArrayList<>();
    List<ServedScheme> schemes = ServedScheme.startAll(context, dataset, device, 0, false);
    try {
      for (Workload workload : Workload.values()) {
        context.progress().step(workload.label);
        List<Series> series =
            new SideBySide(context, schemes, dataset, workload, 1, operations, rounds).run();
        context.progress().done("");
        report(workload, series, table, json.putObject(workload.label));
        goals(workload, series, missed);
      }
    } finally {
      schemes.forEach(ServedScheme::close);
    }
    return new Report(table, json, missed);
  }

  private static void report(Workload workload, List<Series> series, Table table, ObjectNode json) {
    Series erda = series.getFirst();
    for (Series each : series) {
      double faster = Series.ratio(erda.perSecond, each.perSecond);
      boolean other = each != erda;
      table.row(
          workload.label,
          each.scheme.title,
          Table.count(Rounds.median(each.perSecond)),
          Table.time(Rounds.median(each.p50Ns)),
          Table.time(each.latencies.getValueAtPercentile(99)),
          Table.time(Rounds.median(each.cpuNs)),
          other ? Table.decimal(faster) + " times as fast" : "",
          other ? Table.decimal(PaperFigures.throughputRatio(workload, each.scheme)) : "");
      json.putObject(each.scheme.title)
          .put("opsPerSecond", Rounds.median(each.perSecond))
          .put("meanNs", Rounds.median(each.meanNs))
          .put("p50Ns", Rounds.median(each.p50Ns))
          .put("p99Ns", each.latencies.getValueAtPercentile(99))
          .put("serverCpuNsPerOperation", Rounds.median(each.cpuNs))
          .put("erdaThroughputRatio", faster);
    }
  }

  private static double throughputRatioMin(Workload workload) {
    return switch (workload) {
      case YCSB_C, YCSB_B -> 2;
      case YCSB_A -> 1.5;
      case UPDATES -> 1.2;
    };
  }

  private static void goals(Workload workload, List<Series> series, List<String> missed) {
    Series erda = series.getFirst();
    for (Series other : series.subList(1, series.size())) {
      double min = throughputRatioMin(workload);
      double faster = Series.ratio(erda.perSecond, other.perSecond);
      if (faster < min) {
        miss(workload, other, "the throughput", faster, "least", min, missed);
      }
      double p50 = Series.ratio(erda.p50Ns, other.p50Ns);
      if (workload.updatePercent < 50 && p50 > P50_RATIO_MAX) {
        miss(workload, other, "the p50", p50, "most", P50_RATIO_MAX, missed);
      }
      double cpu = Series.ratio(erda.cpuNs, other.cpuNs);
      if (workload == Workload.YCSB_B && cpu > CPU_RATIO_MAX_B) {
        miss(workload, other, "the server's CPU", cpu, "most", CPU_RATIO_MAX_B, missed);
      }
    }
  }

  private static void miss(
      Workload workload,
      Series other,
      String what,
      double ratio,
      String bound,
      double expected,
      List<String> missed) {
    missed.add(
        String.format(
            Locale.ROOT,
            "%s: Erda has %.3f of %s of %s, expected at %s %.2f",
            workload.label,
            ratio,
            what,
            other.scheme.title,
            bound,
            expected));
  }
}
