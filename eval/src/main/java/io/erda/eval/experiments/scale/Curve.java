package io.erda.eval.experiments.scale;

import static io.erda.eval.report.Figure.ns;

import io.erda.eval.plot.LinePlot;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.Unit;
import java.util.ArrayList;
import java.util.List;

/**
 * Nanoseconds of several operations along an axis: a table, and a plot with a curve for each
 * operation. If a floor and a get are among them, the table has their ratio.
 */
final class Curve {
  static final String FLOOR = "floor";
  static final String GET = "get";
  static final String PUT = "put";

  /** A get of a key that is not there. */
  static final String MISS = "miss";

  private final String title;
  private final String axis;
  private final List<String> things;
  private final List<double[]> points = new ArrayList<>();

  /**
   * @param axis the quantity that grows, with its unit
   * @param things the measured operations
   */
  Curve(String title, String axis, String... things) {
    this.title = title;
    this.axis = axis;
    this.things = List.of(things);
  }

  /**
   * Adds a point.
   *
   * @param at its position, higher than the last
   * @param ns of each operation, NaN when it was not measured
   */
  void add(double at, double... ns) {
    double[] point = new double[1 + ns.length];
    point[0] = at;
    System.arraycopy(ns, 0, point, 1, ns.length);
    points.add(point);
  }

  /** Nanoseconds of an operation at a position. */
  double ns(String thing, double at) {
    return points.stream()
        .filter(point -> point[0] == at)
        .mapToDouble(point -> point[1 + things.indexOf(thing)])
        .findFirst()
        .orElseThrow();
  }

  double first() {
    return points.getFirst()[0];
  }

  double last() {
    return points.getLast()[0];
  }

  /** The ratio of an operation's times at two positions. */
  double times(String thing, double from, double to) {
    return ns(thing, to) / ns(thing, from);
  }

  /** The ratio of a get to the floor at a position. */
  double multiple(double at) {
    return ns(GET, at) / ns(FLOOR, at);
  }

  /** Adds a table, one with multiples of the floor if that was measured, and a plot. */
  void tell(String name, Report report) {
    double[] places = points.stream().mapToDouble(point -> point[0]).toArray();
    Figures figures = new Figures("an operation").along("time", Unit.NS, axis, places);
    for (int i = 1; i <= things.size(); i++) {
      int thing = i;
      figures
          .row(things.get(i - 1))
          .values(points.stream().mapToDouble(point -> point[thing]).toArray());
    }
    report.words(title + ".").add(name, figures);
    if (things.contains(FLOOR) && things.contains(GET)) {
      Figures multiples =
          new Figures("floors in a get").along("in floors", Unit.RATIO, axis, places);
      multiples.row(GET).values(points.stream().mapToDouble(at -> multiple(at[0])).toArray());
      report.add(name, multiples);
    }
    report.add(LinePlot.of(title, figures).logarithmic());
  }
}
