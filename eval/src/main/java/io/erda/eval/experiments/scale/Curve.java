package io.erda.eval.experiments.scale;

import static io.erda.eval.report.Figure.ns;

import io.erda.eval.plot.LinePlot;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import io.erda.eval.report.Unit;
import java.util.ArrayList;
import java.util.List;

/**
 * Nanoseconds of several things, measured at several places: a table, and a plot with a curve for
 * each thing. Where a floor and a get are among them, the table has their ratio.
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
   * @param axis what grows, with its unit
   * @param things that are measured
   */
  Curve(String title, String axis, String... things) {
    this.title = title;
    this.axis = axis;
    this.things = List.of(things);
  }

  /**
   * Adds a place.
   *
   * @param at more than before
   * @param ns of each thing, not a number where one was not measured
   */
  void add(double at, double... ns) {
    double[] point = new double[1 + ns.length];
    point[0] = at;
    System.arraycopy(ns, 0, point, 1, ns.length);
    points.add(point);
  }

  /** Nanoseconds of a thing at a place. */
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

  /** How many times as long a thing takes at one place as at another. */
  double times(String thing, double from, double to) {
    return ns(thing, to) / ns(thing, from);
  }

  /** How many floors a get takes at a place. */
  double multiple(double at) {
    return ns(GET, at) / ns(FLOOR, at);
  }

  /** Adds a table, one of multiples of the floor where that was measured, and a plot. */
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
