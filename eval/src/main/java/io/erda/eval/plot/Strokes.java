package io.erda.eval.plot;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The data of SVG paths, as short as possible without a visible difference: in tenths of a pixel,
 * and each point relative to the previous one. Rounding errors do not add up.
 */
final class Strokes {
  /** A line through points. */
  static String line(double[][] points) {
    Pen pen = new Pen();
    for (int i = 0; i < points.length; i++) {
      pen.to(i == 0 ? 'm' : 'l', points[i][0], points[i][1]);
    }
    return pen.toString();
  }

  /** A mark at each point, as a line of no length: its ends give it a form. */
  static String dots(double[][] points) {
    Pen pen = new Pen();
    for (double[] point : points) {
      pen.to('m', point[0], point[1]).along(point[0]);
    }
    return pen.toString();
  }

  /** An upright line at each point, between two heights. */
  static String uprights(double[][] points, double[] from, double[] to) {
    Pen pen = new Pen();
    for (int i = 0; i < points.length; i++) {
      pen.to('m', points[i][0], from[i]).to('l', points[i][0], to[i]);
    }
    return pen.toString();
  }

  /** Stretches of a line at one height. */
  static String dashes(double[][] spans, double y) {
    Pen pen = new Pen();
    for (double[] span : spans) {
      pen.to('m', span[0], y).along(span[1]);
    }
    return pen.toString();
  }

  /**
   * Returns the points of a curve that are visible: the highest and the lowest point of each column
   * of pixels, and the ends.
   *
   * @param points from left to right
   */
  static double[][] seen(double[][] points) {
    List<double[]> seen = new ArrayList<>();
    int next = 0;
    while (next < points.length) {
      int first = next;
      int low = first;
      int high = first;
      double column = Math.floor(points[first][0]);
      while (next < points.length && Math.floor(points[next][0]) == column) {
        low = points[next][1] < points[low][1] ? next : low;
        high = points[next][1] > points[high][1] ? next : high;
        next++;
      }
      int[] kept = {
        first == 0 ? 0 : low,
        Math.min(low, high),
        Math.max(low, high),
        next == points.length ? next - 1 : high
      };
      Arrays.stream(kept).sorted().distinct().forEach(i -> seen.add(points[i]));
    }
    return seen.toArray(double[][]::new);
  }

  /** Writes from one point to the next. */
  private static final class Pen {
    private final StringBuilder written = new StringBuilder();
    private long x;
    private long y;

    @SuppressWarnings("CanIgnoreReturnValueSuggester")
    Pen to(char command, double toX, double toY) {
      written.append(written.isEmpty() ? 'M' : command).append(step(toX, x));
      String down = step(toY, y);
      written.append(down.startsWith("-") ? "" : " ").append(down);
      x = Math.round(toX * 10);
      y = Math.round(toY * 10);
      return this;
    }

    void along(double toX) {
      written.append('h').append(step(toX, x));
      x = Math.round(toX * 10);
    }

    private static String step(double to, long from) {
      long tenths = Math.round(to * 10) - from;
      String whole = Long.toString(Math.abs(tenths) / 10);
      String digit = tenths % 10 == 0 ? "" : "." + Math.abs(tenths % 10);
      return (tenths < 0 ? "-" : "") + (whole.equals("0") && !digit.isEmpty() ? "" : whole) + digit;
    }

    @Override
    public String toString() {
      return written.toString();
    }
  }

  private Strokes() {}
}
