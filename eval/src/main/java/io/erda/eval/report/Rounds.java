package io.erda.eval.report;

import io.erda.console.Progress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleSupplier;

/**
 * Measures several things side by side: round after round, each thing once a round, every other
 * round in reverse order, so that other work of the machine affects all things equally.
 */
public final class Rounds {
  private final Map<String, DoubleSupplier> things = new LinkedHashMap<>();
  private final Map<String, double[]> measured = new LinkedHashMap<>();

  public Rounds measure(String name, DoubleSupplier thing) {
    things.put(name, thing);
    return this;
  }

  /** Runs warm-up rounds, which do not count, then the others. */
  public Rounds run(int warmup, int rounds, Progress progress) {
    things.keySet().forEach(name -> measured.put(name, new double[rounds]));
    List<String> names = new ArrayList<>(things.keySet());
    for (int round = -warmup; round < rounds; round++) {
      progress.at(round < 0 ? "warm-up" : "round " + (round + 1) + " of " + rounds);
      for (String name : (round & 1) == 0 ? names : names.reversed()) {
        double value = things.get(name).getAsDouble();
        if (round >= 0) {
          measured.get(name)[round] = value;
        }
      }
    }
    return this;
  }

  /**
   * Returns in words the value that is shown for this number of rounds: the median, when there are
   * several.
   */
  public static String inWords(int rounds) {
    return rounds == 1 ? "one round" : "medians of " + rounds + " rounds";
  }

  public double median(String name) {
    return median(measured.get(name));
  }

  public double min(String name) {
    return Arrays.stream(measured.get(name)).min().orElseThrow();
  }

  public double max(String name) {
    return Arrays.stream(measured.get(name)).max().orElseThrow();
  }

  /** Returns the values of all rounds. */
  public double[] values(String name) {
    return measured.get(name).clone();
  }

  /** Returns the ratio of two values for each round. */
  public static double[] ratios(double[] of, double[] to) {
    double[] ratios = of.clone();
    Arrays.setAll(ratios, round -> of[round] / to[round]);
    return ratios;
  }

  public static double median(List<Double> values) {
    return median(values.stream().mapToDouble(value -> value).toArray());
  }

  public static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
