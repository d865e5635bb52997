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
 * The least time of an operation on this machine. A get: the neighbourhood and the object are
 * copied and the checksum computed, on a store's own files. A put: the value is copied and its
 * checksum computed, and a word goes to another thread that polls, and back ({@link BarePut}).
 *
 * @param getNs mean time of a get
 * @param putNs mean time of a put
 */
public record Floor(double getNs, double putNs) {
  /** An explanation for people. */
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
   * Measures it, with a separate store of these objects: the medians of some rounds.
   *
   * @param keys to get, in this order
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
   * The least mean time of operations.
   *
   * @param putPercent percentage of puts; the others are gets
   */
  public double ns(int putPercent) {
    return (getNs * (100 - putPercent) + putNs * putPercent) / 100;
  }

  /**
   * Adds the explanation for people, and the values for programs.
   *
   * @return the report
   */
  public Report tell(Report report) {
    return report.words(WORDS).given("floorGetNs", getNs).given("floorPutNs", putNs);
  }

  /** The ratio of the mean time of such operations to the floor. */
  public Figure beside(double meanNs, int putPercent) {
    return Figure.ratio("mean / floor", meanNs / ns(putPercent));
  }
}
