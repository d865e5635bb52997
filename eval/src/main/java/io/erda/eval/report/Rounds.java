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
 * round in reverse order, so that what else goes on on the machine meets all of them.
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

  /** What so many rounds give, in words: the median, where there are several. */
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

  /** What each round has measured. */
  public double[] values(String name) {
    return measured.get(name).clone();
  }

  /** Of each round one value beside another. */
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
