package io.erda.eval.paper;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.console.Numbers;
import io.erda.eval.Experiment;
import io.erda.eval.baselines.Counting;
import io.erda.eval.floor.Floor;
import io.erda.eval.load.Dataset;
import io.erda.eval.process.Transport;
import io.erda.eval.report.Part;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Table;
import io.erda.eval.report.Words;
import io.erda.rdma.Poller;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Erda, with its own puts and with the paper's, beside Redo Logging and Read After Write with
 * objects of 1 KiB and one client: the same objects and the same keys, by one device, round after
 * round in one run. Processor time is that of all threads of the server, polling included; over
 * shared memory a shorter run behind it tells it apart from polling, and each time stands beside
 * the least that the operation can take. Of embedded stores, which are in this process, nothing is
 * expected.
 */
public final class BaselinesExperiment implements Experiment {
  private static final int VALUE_BYTES = 1024;
  private static final double P50_RATIO_MAX = 0.7;
  private static final double CPU_RATIO_MAX_B = 1 / 20.0;
  private static final int WORK_ROUNDS = 3;

  private final Deployment deployment;

  private BaselinesExperiment(Deployment deployment) {
    this.deployment = deployment;
  }

  /** Stores in processes of their own, and by what they are reached. */
  public static BaselinesExperiment over(Transport transport) {
    return new BaselinesExperiment(Deployment.served(transport));
  }

  /** Stores in the process of their client. */
  public static BaselinesExperiment embedded() {
    return new BaselinesExperiment(Deployment.embedded());
  }

  @Override
  public String name() {
    return overShm() ? "baselines" : "baselines-" + deployment.device();
  }

  @Override
  public String what() {
    return "Erda beside Redo Logging and Read After Write "
        + deployment.where()
        + (deployment.hasServers()
            ? ": at least 2 times the throughput of YCSB-C and B, 1.5 times of A, 1.2 times of"
                + " updates alone; at most 0.7 of the p50, and 1/20 of the server's processor time"
                + " in B"
            : "; nothing is expected");
  }

  private boolean overShm() {
    return deployment.isOver(Transport.SHM);
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    Optional<String> missing = deployment.missing();
    if (missing.isPresent()) {
      return Report.skipped(missing.get());
    }
    int objects = (context.quick() ? 10_000 : 100_000) / deployment.slowness();
    int operations = (context.quick() ? 20_000 : 200_000) / deployment.slowness();
    int rounds = context.rounds() > 0 ? context.rounds() : context.quick() ? 3 : 9;
    Dataset dataset = new Dataset(objects, VALUE_BYTES);
    ObjectNode json = new ObjectMapper().createObjectNode();
    json.put("device", deployment.device()).put("valueBytes", VALUE_BYTES);
    json.put("objects", objects).put("operations", operations);
    Map<Workload, List<Series>> measured = new EnumMap<>(Workload.class);
    List<? extends ComparedStore> schemes = deployment.openAll(context, dataset);
    try {
      for (Workload workload : Workload.values()) {
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
    List<String> missed = new ArrayList<>();
    List<Part> parts = new ArrayList<>();
    parts.add(Scheme.promises());
    parts.add(
        new Words(
            "“Erda is” tells Erda's throughput beside the row's, and “announcing” that of Erda"
                + " where it announces first."
                + deployment.words()));
    parts.add(report(measured, floor, json));
    if (deployment.hasServers()) {
      measured.forEach((workload, series) -> goals(workload, series, missed));
    }
    if (overShm()) {
      floor.tell(json);
      parts.add(Floor.words());
      parts.addAll(work(context, dataset, operations, Math.min(rounds, WORK_ROUNDS), json));
    }
    return Report.of(parts, json, missed);
  }

  /** In a run of its own: looks at the clock slow the servers down. */
  private List<Part> work(
      Context context, Dataset dataset, int operations, int rounds, ObjectNode json)
      throws InterruptedException {
    Table table =
        new Table(
            "load", "scheme", "server CPU/op", "at work/op", "to Erda's", "announcing", "paper");
    List<ServedScheme> schemes =
        ServedScheme.startAll(context, dataset, Transport.SHM, 0, Counting.WORK);
    try {
      for (Workload workload : Workload.values()) {
        context.progress().step(workload.label + ", servers at work");
        List<Series> series =
            new SideBySide(context, schemes, dataset, workload, 1, operations, rounds)
                .timed()
                .run();
        context.progress().done("");
        for (Series each : series) {
          boolean baseline = each.scheme.isBaseline();
          double work = work(each, series, Scheme.ERDA);
          double announcing = work(each, series, Scheme.ERDA_ANNOUNCING);
          table.row(
              workload.label,
              each.scheme.title,
              Numbers.time(Rounds.median(each.cpuNs)),
              Numbers.time(Rounds.median(each.workNs)),
              each.scheme == Scheme.ERDA ? "" : PaperFigures.text(work),
              baseline ? PaperFigures.text(announcing) : "",
              baseline ? PaperFigures.text(PaperFigures.cpuRatio(workload, each.scheme)) : "");
          ObjectNode node = json.withObject("/" + workload.label + "/" + each.scheme.title);
          node.put("serverWorkNsPerOperation", Rounds.median(each.workNs));
          if (Double.isFinite(work)) {
            node.put("timesErdasWork", work);
          }
          if (Double.isFinite(announcing)) {
            node.put("timesAnnouncingErdasWork", announcing);
          }
        }
      }
    } finally {
      ComparedStore.closeAll(schemes);
    }
    return List.of(
        new Words(
            "All servers poll, up to "
                + Numbers.time(Poller.DEFAULT_BUDGET_NS)
                + " after each request, and polling is most of their processor time. In a run of"
                + " its own, whose servers look at the clock before and after each step, this is"
                + " what those steps took that had something to do, and how many times Erda's"
                + " work, with its own puts and where it announces first, that of the row is:"),
        table);
  }

  private Table report(Map<Workload, List<Series>> measured, Floor floor, ObjectNode json) {
    List<String> heads = new ArrayList<>(List.of("load", "scheme", "op/s", "mean", "p50", "p99"));
    heads.addAll(deployment.hasServers() ? List.of("server CPU/op") : List.of());
    heads.addAll(floor == null ? List.of() : List.of("mean / floor"));
    heads.addAll(List.of("Erda is", "announcing", "paper"));
    Table table = new Table(heads.toArray(String[]::new));
    measured.forEach((workload, series) ->
        report(workload, series, floor, table, json.putObject(workload.label)));
    return table;
  }

  private void report(
      Workload workload, List<Series> series, Floor floor, Table table, ObjectNode json) {
    for (Series each : series) {
      double faster = faster(Scheme.ERDA, series, each);
      double announcing = faster(Scheme.ERDA_ANNOUNCING, series, each);
      boolean baseline = each.scheme.isBaseline();
      double meanNs = Rounds.median(each.meanNs);
      ObjectNode node = json.putObject(each.scheme.title);
      List<Object> row =
          new ArrayList<>(
              List.of(
                  workload.label,
                  each.scheme.title,
                  Numbers.count(Rounds.median(each.perSecond)),
                  Numbers.time(meanNs),
                  Numbers.time(Rounds.median(each.p50Ns)),
                  Numbers.time(each.latencies.getValueAtPercentile(99))));
      if (deployment.hasServers()) {
        row.add(Numbers.time(Rounds.median(each.cpuNs)));
        node.put("serverCpuNsPerOperation", Rounds.median(each.cpuNs));
      }
      if (floor != null) {
        row.add(floor.times(meanNs, workload.updatePercent));
        node.put("timesFloor", meanNs / floor.ns(workload.updatePercent));
      }
      row.add(each.scheme == Scheme.ERDA ? "" : Numbers.decimal(faster) + " times");
      row.add(baseline ? Numbers.decimal(announcing) + " times" : "");
      row.add(baseline ? Numbers.decimal(PaperFigures.throughputRatio(workload, each.scheme)) : "");
      table.row(row.toArray());
      node.put("opsPerSecond", Rounds.median(each.perSecond))
          .put("meanNs", meanNs)
          .put("p50Ns", Rounds.median(each.p50Ns))
          .put("p99Ns", each.latencies.getValueAtPercentile(99))
          .put("erdaThroughputRatio", faster)
          .put("announcingThroughputRatio", announcing);
    }
  }

  /** How many times the work of one of the schemes a server did; in some rounds that is 0. */
  private static double work(Series of, List<Series> series, Scheme scheme) {
    return Rounds.median(of.workNs) / Rounds.median(series.get(scheme.ordinal()).workNs);
  }

  /** How many times the throughput of {@code than} one of the schemes has. */
  private static double faster(Scheme scheme, List<Series> series, Series than) {
    return Series.ratio(series.get(scheme.ordinal()).perSecond, than.perSecond);
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
    for (Series other : series) {
      if (!other.scheme.isBaseline()) {
        continue;
      }
      double min = throughputRatioMin(workload);
      double faster = faster(Scheme.ERDA, series, other);
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
