package io.erda.eval.paper;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.console.Numbers;
import io.erda.eval.Experiment;
import io.erda.eval.baselines.Counting;
import io.erda.eval.floor.Floor;
import io.erda.eval.load.Dataset;
import io.erda.eval.plot.LinePlot;
import io.erda.eval.process.Transport;
import io.erda.eval.report.Part;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Table;
import io.erda.eval.report.Words;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleFunction;

/** The mean latency of an operation by the size of values: the paper's figures 14 to 17. */
public final class SizesExperiment implements Experiment {
  private static final int[] SIZES = {16, 64, 256, 1024, 4096};

  @Override
  public String name() {
    return "sizes";
  }

  @Override
  public String what() {
    return "the paper's figures 14 to 17 over shared memory: mean latency with values of 16 to 4096"
        + " bytes, one client; Erda is quicker than both baselines wherever the paper has it so";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int objects = context.quick() ? 5_000 : 50_000;
    int operations = context.quick() ? 10_000 : 100_000;
    int rounds = context.rounds() > 0 ? context.rounds() : context.quick() ? 2 : 5;
    Map<Workload, Map<Scheme, double[]>> meanNs = new EnumMap<>(Workload.class);
    for (Workload workload : Workload.values()) {
      Map<Scheme, double[]> means = new EnumMap<>(Scheme.class);
      Arrays.stream(Scheme.values()).forEach(scheme -> means.put(scheme, new double[SIZES.length]));
      meanNs.put(workload, means);
    }
    Floor[] floors = new Floor[SIZES.length];
    for (int size = 0; size < SIZES.length; size++) {
      Dataset dataset = new Dataset(objects, SIZES[size]);
      List<ServedScheme> schemes =
          ServedScheme.startAll(context, dataset, Transport.SHM, 0, Counting.NOTHING);
      try {
        context.progress().step("values of " + SIZES[size] + " bytes");
        for (Workload workload : Workload.values()) {
          for (Series series :
              new SideBySide(context, schemes, dataset, workload, 1, operations, rounds).run()) {
            meanNs.get(workload).get(series.scheme)[size] = Rounds.median(series.meanNs);
          }
        }
        context.progress().done("");
      } finally {
        ComparedStore.closeAll(schemes);
      }
      floors[size] = Floor.of(context, dataset, ZipfianKeys.readAlone(dataset));
    }
    return report(meanNs, floors);
  }

  private static Report report(Map<Workload, Map<Scheme, double[]>> meanNs, Floor[] floors) {
    List<Part> parts = new ArrayList<>();
    parts.add(Scheme.promises());
    parts.add(
        new Words(
            "The mean over all sizes of Erda's time beside each other scheme's: ours, that of Erda"
                + " where it announces first, and the paper's (whose network takes tens of"
                + " microseconds, where shared memory takes none)."));
    Table ratios = new Table("load", "beside", "ours", "announcing", "paper");
    Table table = new Table("load", "scheme", "16 B", "64 B", "256 B", "1 KiB", "4 KiB");
    LinePlot plot = new LinePlot("Mean latency by size of values", "bytes", "µs").inSteps();
    ObjectNode json = new ObjectMapper().createObjectNode();
    List<String> missed = new ArrayList<>();
    double[] sizes = Arrays.stream(SIZES).asDoubleStream().toArray();
    meanNs.forEach((workload, means) -> {
      plot.panel(workload.label);
      ObjectNode node = json.putObject(workload.label);
      double[] floorNs =
          Arrays.stream(floors).mapToDouble(each -> each.ns(workload.updatePercent)).toArray();
      row(table, workload, "floor", floorNs, Numbers::time);
      Arrays.stream(floorNs).forEach(node.putArray("floorNs")::add);
      double[] erdaNs = means.get(Scheme.ERDA);
      double[] multiples = new double[SIZES.length];
      Arrays.setAll(multiples, size -> erdaNs[size] / floorNs[size]);
      row(table, workload, "Erda / floor", multiples, Numbers::decimal);
      means.forEach((scheme, ns) -> {
        row(table, workload, scheme.title, ns, Numbers::time);
        plot.curve(scheme.title, sizes, Arrays.stream(ns).map(each -> each / 1e3).toArray());
        Arrays.stream(ns).forEach(node.putArray(scheme.title + "MeanNs")::add);
        if (scheme == Scheme.ERDA) {
          return;
        }
        double ours = mean(means.get(Scheme.ERDA)) / mean(ns);
        if (!scheme.isBaseline()) {
          ratios.row(workload.label, scheme.title, Numbers.decimal(ours), "", "");
          return;
        }
        double announcing = mean(means.get(Scheme.ERDA_ANNOUNCING)) / mean(ns);
        double paper = PaperFigures.latencyRatio(workload, scheme);
        ratios.row(
            workload.label,
            scheme.title,
            Numbers.decimal(ours),
            Numbers.decimal(announcing),
            Numbers.decimal(paper));
        if (ours > 1 && paper < 1) {
          missed.add(
              workload.label
                  + ": Erda takes "
                  + Numbers.decimal(ours)
                  + " times as long as "
                  + scheme.title
                  + ", in the paper "
                  + Numbers.decimal(paper));
        }
      });
    });
    parts.addAll(List.of(ratios, table, Floor.words(), plot));
    return Report.of(parts, json, missed);
  }

  private static void row(
      Table table,
      Workload workload,
      String name,
      double[] values,
      DoubleFunction<String> written) {
    List<Object> row = new ArrayList<>(List.of(workload.label, name));
    Arrays.stream(values).mapToObj(written).forEach(row::add);
    table.row(row.toArray());
  }

  private static double mean(double[] values) {
    return Arrays.stream(values).average().orElseThrow();
  }
}
