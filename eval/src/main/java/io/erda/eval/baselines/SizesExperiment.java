package io.erda.eval.baselines;

import io.erda.eval.Experiment;
import io.erda.eval.floor.Floor;
import io.erda.eval.load.Dataset;
import io.erda.eval.process.DeviceChoice;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import io.erda.eval.report.Unit;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The mean latency of an operation by the size of values: the paper's figures 14 to 17. */
public final class SizesExperiment implements Experiment {
  private static final int[] SIZES = {16, 64, 256, 1024, 4096};

  @Override
  public String name() {
    return "sizes";
  }

  @Override
  public String what() {
    return "Erda is quicker than both baselines wherever the paper's figures 14 to 17 have it so,"
        + " in mean latency over shared memory, with one client and values of 16 to 4096 bytes";
  }

  @Override
  public Report run(Context context) throws InterruptedException {
    int objects = context.quick() ? 5_000 : 50_000;
    int operations = context.quick() ? 10_000 : 100_000;
    int rounds = context.roundsOr(5, 2);
    Map<PaperWorkload, Map<Scheme, double[]>> meanNs = new EnumMap<>(PaperWorkload.class);
    for (PaperWorkload workload : PaperWorkload.values()) {
      Map<Scheme, double[]> means = new EnumMap<>(Scheme.class);
      Arrays.stream(Scheme.values()).forEach(scheme -> means.put(scheme, new double[SIZES.length]));
      meanNs.put(workload, means);
    }
    Floor[] floors = new Floor[SIZES.length];
    for (int size = 0; size < SIZES.length; size++) {
      Dataset dataset = new Dataset(objects, SIZES[size]);
      List<ServedScheme> schemes =
          ServedScheme.startAll(context, dataset, DeviceChoice.SHM, 0, Counting.NOTHING);
      try {
        context.progress().step("values of " + SIZES[size] + " bytes");
        for (PaperWorkload workload : PaperWorkload.values()) {
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
    return tell(context.report(), meanNs, floors);
  }

  private static Report tell(
      Report report, Map<PaperWorkload, Map<Scheme, double[]>> meanNs, Floor[] floors) {
    Beside beside = new Beside("mean", Unit.NS, "bytes", SIZES, false);
    Figures multiples =
        new Figures("Erda / floor")
            .along(
                "timesFloor", Unit.RATIO, "bytes", Arrays.stream(SIZES).asDoubleStream().toArray());
    meanNs.forEach((workload, means) -> {
      double[] floorNs =
          Arrays.stream(floors).mapToDouble(each -> each.ns(workload.updatePercent)).toArray();
      beside.add(workload, means, other -> PaperFigures.latencyRatio(workload, other), 0);
      beside.addFloor(workload, floorNs);
      multiples.row(workload.label).values(Rounds.ratios(means.get(Scheme.ERDA), floorNs));
    });
    report
        .add(Scheme.promises())
        .words(
            "“Erda beside it” is the mean over all sizes of Erda's time beside the row's,"
                + " “announcing” that of Erda where it announces first; and the paper's (whose"
                + " network takes tens of microseconds, where shared memory takes none).")
        .add(beside.figures())
        .add(PaperFigures.latency())
        .add(multiples);
    return floors[0].tell(report).add(beside.plot("Mean latency by size of values"));
  }
}
