package io.erda.eval.experiments.scale;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.console.Numbers;
import io.erda.eval.plot.LinePlot;
import io.erda.eval.report.Part;
import io.erda.eval.report.Table;
import io.erda.eval.report.Words;
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

  private boolean hasFloor() {
    return things.contains(FLOOR) && things.contains(GET);
  }

  List<Part> parts(String words) {
    return List.of(new Words(title + "."), table(), plot(), new Words(words));
  }

  private Table table() {
    List<String> header = new ArrayList<>(List.of(axis));
    header.addAll(things);
    if (hasFloor()) {
      header.add("get, multiple of the floor");
    }
    Table table = new Table(header.toArray(String[]::new));
    for (double[] point : points) {
      List<Object> row = new ArrayList<>(List.of(Numbers.count(point[0])));
      for (int i = 1; i < point.length; i++) {
        row.add(Double.isNaN(point[i]) ? "–" : Numbers.time(point[i]));
      }
      if (hasFloor()) {
        row.add(Numbers.decimal(multiple(point[0])));
      }
      table.row(row.toArray());
    }
    return table;
  }

  private LinePlot plot() {
    LinePlot plot = new LinePlot(title, axis, "µs").logarithmic().inSteps().panel("");
    for (int thing = 1; thing <= things.size(); thing++) {
      int which = thing;
      List<double[]> measured =
          points.stream().filter(point -> !Double.isNaN(point[which])).toList();
      plot.curve(
          things.get(thing - 1),
          measured.stream().mapToDouble(point -> point[0]).toArray(),
          measured.stream().mapToDouble(point -> point[which] / 1e3).toArray());
    }
    return plot;
  }

  /** Writes what was measured: where, and an array of nanoseconds for each thing. */
  void write(ObjectNode json) {
    json.put("title", title);
    write(json.putArray(axis), 0);
    for (int thing = 1; thing <= things.size(); thing++) {
      write(json.putArray(things.get(thing - 1) + "Ns"), thing);
    }
  }

  private void write(ArrayNode array, int which) {
    for (double[] point : points) {
      if (Double.isNaN(point[which])) {
        array.addNull();
      } else {
        array.add(point[which]);
      }
    }
  }
}
