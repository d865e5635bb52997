package io.erda.eval.floor;

import static io.erda.eval.report.Figure.ns;

import io.erda.eval.Experiment.Context;
import io.erda.eval.load.Dataset;
import io.erda.eval.load.ServedStore;
import io.erda.eval.report.Figure;
import io.erda.eval.report.Report;
import io.erda.eval.report.Rounds;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The least that an operation can take on this machine. A get: the neighbourhood and the object are
 * copied and the checksum computed, on a store's own files. A put: the value is copied and its
 * checksum computed, and a word goes to another thread that polls, and back ({@link BarePut}).
 *
 * @param getNs of a get, in the mean
 * @param putNs of a put, in the mean
 */
public record Floor(double getNs, double putNs) {
  /** What it is, for people. */
  public static final String WORDS =
      "The floor is the least that an operation of one thread over shared memory takes here,"
          + " in the mean, when one follows the other: a get copies the neighbourhood and"
          + " the object from a store's own files and computes the checksum; a put copies"
          + " the value, computes its checksum, and waits until another thread has seen one"
          + " word.";

  private static final int WARM_UP = 2;
  private static final int ROUNDS = 5;
  private static final int PUTS = 1 << 13;

  /**
   * Measures it, with a store of its own that has these objects: the medians of some rounds.
   *
   * @param keys that are got, in this order
   */
  public static Floor of(Context context, Dataset dataset, MemorySegment[] keys) {
    try (ServedStore store = ServedStore.create(context, "floor", List.of())) {
      store.load(dataset);
      context.progress().step("the least that an operation can take");
      Floor floor = of(store, keys, dataset.valueBytes());
      context.progress().done("");
      return floor;
    }
  }

  private static Floor of(ServedStore store, MemorySegment[] keys, int valueBytes) {
    double[] getNs = new double[ROUNDS];
    double[] putNs = new double[ROUNDS];
    try (BesideFloor gets = BesideFloor.open(store, keys, valueBytes);
        BarePut puts = new BarePut(valueBytes)) {
      for (int round = -WARM_UP; round < ROUNDS; round++) {
        double getMeanNs = gets.floorNs(false);
        double putMeanNs = puts.meanNs(PUTS);
        if (round >= 0) {
          getNs[round] = getMeanNs;
          putNs[round] = putMeanNs;
        }
      }
    }
    return new Floor(Rounds.median(getNs), Rounds.median(putNs));
  }

  /**
   * The least that the mean of operations can be.
   *
   * @param putPercent so many of a hundred are puts, the others gets
   */
  public double ns(int putPercent) {
    return (getNs * (100 - putPercent) + putNs * putPercent) / 100;
  }

  /**
   * Tells people what it is, and programs how much.
   *
   * @return the report
   */
  public Report tell(Report report) {
    return report.words(WORDS).given("floorGetNs", getNs).given("floorPutNs", putNs);
  }

  /** The mean time of such operations beside the least that it can be. */
  public Figure beside(double meanNs, int putPercent) {
    return Figure.ratio("mean / floor", meanNs / ns(putPercent));
  }
}
