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
 * What the paper has a figure of: values of all schemes along an axis, and beside each scheme that
 * of Erda, in the mean of all places: with its own puts, with those of the paper, and in the paper.
 * One thread.
 */
final class Beside {
  private final Figures figures;
  private final boolean virtual;

  /**
   * @param title what the values are, for programs
   * @param axis what changes from place to place
   * @param virtual whether time is, so that a run of any size can tell
   */
  Beside(String title, Unit unit, String axis, int[] places, boolean virtual) {
    this.virtual = virtual;
    figures =
        new Figures("load", "scheme")
            .along(title, unit, axis, Arrays.stream(places).asDoubleStream().toArray());
  }

  /** Adds the values of all schemes, of which nothing is expected. */
  void add(
      Workload workload, Map<Scheme, double[]> values, ToDoubleFunction<Scheme> besideInPaper) {
    add(workload, values, besideInPaper, Double.NaN);
  }

  /**
   * Adds the values of all schemes, of which Erda's must be on the same side of a baseline's as in
   * the paper.
   *
   * @param besideInPaper Erda's value beside a baseline's, in the paper
   * @param equal nearer to 1 is on neither side
   */
  void add(
      Workload workload,
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

  /** Adds the least that Erda can have. */
  void addFloor(Workload workload, double... floors) {
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
