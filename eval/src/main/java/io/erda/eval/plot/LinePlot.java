package io.erda.eval.plot;

import io.erda.eval.report.Figures;
import io.erda.eval.report.Html;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;

/**
 * Curves in panels, two beside each other if there are several, each panel with its own scale: over
 * time, or over a few values at equal distances. Ranges can be shaded. As SVG. One thread.
 */
public final class LinePlot extends Plot {
  private static final int TOP = 40;
  private static final int PANEL_HEIGHT = 250;
  private static final int MARGIN_LEFT = 62;
  private static final int MARGIN_BELOW = 44;
  private static final int MARGIN_ABOVE = 22;
  private static final int LEGEND_HEIGHT = 26;
  private static final int GAP = 24;

  private final String xAxis;
  private final String yAxis;
  private final List<Panel> panels = new ArrayList<>();
  private final List<String> names = new ArrayList<>();
  private boolean logarithmic;
  private boolean steps;

  /** The range of a value is from {@code min} to {@code max}. */
  private record Curve(String name, double[] x, double[] y, double[] min, double[] max) {}

  private record Panel(String title, List<Curve> curves, List<double[]> shades) {
    DoubleStream values() {
      return curves.stream()
          .flatMapToDouble(
              curve -> DoubleStream.concat(Arrays.stream(curve.min()), Arrays.stream(curve.max())));
    }

    DoubleStream places() {
      return curves.stream().flatMapToDouble(curve -> Arrays.stream(curve.x()));
    }
  }

  /**
   * @param xAxis title of the horizontal axis, with its unit
   * @param yAxis title of the vertical axis, with its unit
   */
  public LinePlot(String title, String xAxis, String yAxis) {
    super(title);
    this.xAxis = xAxis;
    this.yAxis = yAxis;
  }

  /**
   * The values of a table along its axis, in steps: a curve for each row, in panels. A value that
   * is a median has a line from the least to the most that was measured.
   */
  public static LinePlot of(String title, Figures figures) {
    LinePlot plot = new LinePlot(title, figures.axis(), figures.seriesUnit()).inSteps();
    for (Figures.Curve curve : figures.curves()) {
      if (plot.panels.isEmpty() || !plot.panels.getLast().title().equals(curve.panel())) {
        plot.panel(curve.panel());
      }
      plot.curve(curve.name(), curve.places(), curve.values(), curve.min(), curve.max());
    }
    return plot;
  }

  /** Makes the vertical axis logarithmic: then all values must be more than 0. */
  public LinePlot logarithmic() {
    logarithmic = true;
    return this;
  }

  /** Places the values of the horizontal axis at equal distances, with a mark at each. */
  public LinePlot inSteps() {
    steps = true;
    return this;
  }

  /** Begins a panel; the title may be empty. */
  public LinePlot panel(String title) {
    panels.add(new Panel(title, new ArrayList<>(), new ArrayList<>()));
    return this;
  }

  /**
   * Adds a curve to the last panel; curves of one name have one colour.
   *
   * @param x positions, rising
   * @param y values, one for each position
   */
  public LinePlot curve(String name, double[] x, double[] y) {
    return curve(name, x, y, y, y);
  }

  private LinePlot curve(String name, double[] x, double[] y, double[] min, double[] max) {
    panels.getLast().curves().add(new Curve(name, x.clone(), y.clone(), min.clone(), max.clone()));
    if (!names.contains(name)) {
      names.add(name);
    }
    return this;
  }

  /** Shades a range of the last panel. */
  public LinePlot shade(double from, double to) {
    panels.getLast().shades().add(new double[] {from, to});
    return this;
  }

  @Override
  public String svg() {
    StringBuilder body = new StringBuilder();
    int columns = Math.min(2, panels.size());
    double width = (WIDTH - GAP * (columns - 1.0)) / columns;
    for (int i = 0; i < panels.size(); i++) {
      double left = i % columns * (width + GAP);
      double top = TOP + i / columns * PANEL_HEIGHT;
      body.append(panel(panels.get(i), left, top, width));
    }
    int rows = (panels.size() + columns - 1) / columns;
    int foot = TOP + rows * PANEL_HEIGHT;
    return document(foot + LEGEND_HEIGHT, body + legend(foot));
  }

  private String panel(Panel panel, double left, double top, double width) {
    double floor = top + PANEL_HEIGHT - MARGIN_BELOW;
    double ceiling = top + MARGIN_ABOVE;
    double right = left + width;
    Axis y = upright(panel, floor, ceiling);
    double[] places = panel.places().distinct().sorted().toArray();
    StringBuilder drawn = new StringBuilder();
    drawn.append(text(left + MARGIN_LEFT, top + 14, "font-weight=\"bold\"", panel.title()));
    if (!panel.shades().isEmpty()) {
      double[][] spans =
          panel.shades().stream()
              .map(shade ->
                  new double[] {x(places, shade[0], left, right), x(places, shade[1], left, right)})
              .toArray(double[][]::new);
      drawn.append(
          String.format(
              Locale.ROOT,
              "<path class=\"shade\" d=\"%s\" stroke=\"#336699\" stroke-opacity=\"0.2\""
                  + " stroke-width=\"%.1f\"/>%n",
              Strokes.dashes(spans, (floor + ceiling) / 2),
              floor - ceiling));
    }
    for (double tick : y.ticks()) {
      drawn.append(
          String.format(
              Locale.ROOT,
              "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#dddddd\"/>%n",
              left + MARGIN_LEFT,
              y.at(tick),
              right));
      drawn.append(
          text(left + MARGIN_LEFT - 6, y.at(tick) + 4, "text-anchor=\"end\"", Axis.name(tick)));
    }
    for (double tick : steps ? places : timeTicks(places)) {
      drawn.append(
          text(
              x(places, tick, left, right), floor + 16, "text-anchor=\"middle\"", Axis.name(tick)));
    }
    drawn.append(
        text(
            (left + MARGIN_LEFT + right) / 2,
            floor + 34,
            "text-anchor=\"middle\" fill=\"#555555\"",
            xAxis));
    drawn.append(
        String.format(
            Locale.ROOT,
            "<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\""
                + " fill=\"#555555\">%s</text>%n",
            left + 10,
            (floor + ceiling) / 2,
            Html.escape(yAxis)));
    panel.curves().forEach(curve -> drawn.append(curve(curve, places, y, left, right)));
    return drawn.toString();
  }

  private Axis upright(Panel panel, double floor, double ceiling) {
    double highest = panel.values().max().orElse(1);
    return logarithmic
        ? Axis.logarithmic(panel.values().min().orElse(1), highest, floor, ceiling)
        : Axis.linear(highest, floor, ceiling);
  }

  private static double[] timeTicks(double[] places) {
    double last = places.length == 0 ? 1 : places[places.length - 1];
    return Axis.linear(last / 1.05, 0, 1).ticks().stream().mapToDouble(tick -> tick).toArray();
  }

  /** The position of a value: in proportion, or in its turn. */
  private double x(double[] places, double place, double left, double right) {
    double from = left + MARGIN_LEFT;
    if (!steps) {
      double last = places.length == 0 ? 1 : Math.max(places[places.length - 1], 1e-9);
      return from + place / last * (right - from);
    }
    double column = (right - from) / Math.max(1, places.length);
    return from + (Arrays.binarySearch(places, place) + 0.5) * column;
  }

  private String curve(Curve curve, double[] places, Axis y, double left, double right) {
    String colour = COLOURS[names.indexOf(curve.name()) % COLOURS.length];
    double[][] points = new double[curve.x().length][];
    for (int i = 0; i < points.length; i++) {
      points[i] = new double[] {x(places, curve.x()[i], left, right), y.at(curve.y()[i])};
    }
    return String.format(
            Locale.ROOT,
            "<path class=\"curve\" d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"/>%n",
            Strokes.line(steps ? points : Strokes.seen(points)),
            colour,
            steps ? "2" : "1.2")
        + (steps ? marks(points, colour) + ranges(curve, points, y, colour) : "");
  }

  private static String ranges(Curve curve, double[][] points, Axis y, String colour) {
    if (Arrays.equals(curve.min(), curve.max())) {
      return "";
    }
    double[] highest = Arrays.stream(curve.max()).map(y::at).toArray();
    double[] lowest = Arrays.stream(curve.min()).map(y::at).toArray();
    return String.format(
        Locale.ROOT,
        "<path class=\"range\" d=\"%s\" stroke=\"%s\" stroke-width=\"1.2\"/>%n",
        Strokes.uprights(points, highest, lowest),
        colour);
  }

  private static String marks(double[][] points, String colour) {
    return String.format(
        Locale.ROOT,
        "<path class=\"mark\" d=\"%s\" stroke=\"%s\" stroke-width=\"7\""
            + " stroke-linecap=\"round\"/>%n",
        Strokes.dots(points),
        colour);
  }

  private String legend(int y) {
    StringBuilder legend = new StringBuilder();
    double x = MARGIN_LEFT;
    for (int i = 0; i < names.size(); i++) {
      legend.append(
          String.format(
              Locale.ROOT,
              "<rect x=\"%.1f\" y=\"%d\" width=\"14\" height=\"10\" fill=\"%s\"/>%n",
              x,
              y + 4,
              COLOURS[i % COLOURS.length]));
      legend.append(text(x + 20, y + 13, "", names.get(i)));
      x += 48 + 7.2 * names.get(i).length();
    }
    return legend.toString();
  }
}
