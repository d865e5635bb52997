package io.erda.eval.baselines;

import static io.erda.eval.report.Figure.ratio;

import io.erda.eval.plot.LinePlot;
import io.erda.eval.report.Figure;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Unit;
import java.util.Arrays;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * A table for a figure of the paper: values of all schemes along an axis, and the mean ratio of
 * Erda to each scheme: with Erda's own puts, with those of the paper, and in the paper. One thread.
 */
final class Beside {
  private final Figures figures;
  private final boolean virtual;

  /**
   * @param title of the values, for programs
   * @param axis the parameter that varies
   * @param virtual whether times are virtual, so that goals are judged in a run of any size
   */
  Beside(String title, Unit unit, String axis, int[] places, boolean virtual) {
    this.virtual = virtual;
    figures =
        new Figures("load", "scheme")
            .along(title, unit, axis, Arrays.stream(places).asDoubleStream().toArray());
  }

  /** Adds the values of all schemes, without goals. */
  void add(
      PaperWorkload workload,
      Map<Scheme, double[]> values,
      ToDoubleFunction<Scheme> besideInPaper) {
    add(workload, values, besideInPaper, Double.NaN);
  }

  /**
   * Adds the values of all schemes; Erda must be on the same side of a baseline as in the paper.
   *
   * @param besideInPaper the ratio of Erda to a baseline in the paper
   * @param equal a ratio nearer to 1 than this is on neither side
   */
  void add(
      PaperWorkload workload,
      Map<Scheme, double[]> values,
      ToDoubleFunction<Scheme> besideInPaper,
      double equal) {
    values.forEach((scheme, along) -> {
      Figures.Row row = figures.row(workload.label, scheme.title).values(along);
      if (scheme == Scheme.ERDA) {
        return;
      }
      Figure ours = ratio("Erda beside it", beside(Scheme.ERDA, scheme, values));
      if (!scheme.isBaseline()) {
        row.add(ours);
        return;
      }
      Figure announcing = ratio("announcing", beside(Scheme.ERDA_ANNOUNCING, scheme, values));
      double paper = besideInPaper.applyAsDouble(scheme);
      row.add(
          judged(ours, paper, equal),
          virtual ? judged(announcing, paper, equal) : announcing,
          ratio("in the paper", paper));
    });
  }

  /** Adds the least values that Erda can have. */
  void addFloor(PaperWorkload workload, double... floors) {
    figures.row(workload.label, "floor").values(floors);
  }

  private Figure judged(Figure figure, double paper, double equal) {
    if (paper >= 1 + equal && paper > 1) {
      return sized(figure.atLeast(1 - equal));
    }
    return paper <= 1 - equal && paper < 1 ? sized(figure.atMost(1 + equal)) : figure;
  }

  private Figure sized(Figure judged) {
    return virtual ? judged.atAnySize() : judged;
  }

  private static double beside(Scheme erda, Scheme other, Map<Scheme, double[]> values) {
    return mean(values.get(erda)) / mean(values.get(other));
  }

  private static double mean(double[] values) {
    return Arrays.stream(values).average().orElseThrow();
  }

  Figures figures() {
    return figures;
  }

  LinePlot plot(String title) {
    return LinePlot.of(title, figures);
  }
}
