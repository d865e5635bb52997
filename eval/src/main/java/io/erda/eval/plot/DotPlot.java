package io.erda.eval.plot;

import io.erda.eval.report.Figures;
import io.erda.eval.report.Unit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A row for each name with a dot for each series on a logarithmic scale that all rows share, and a
 * line from the least to the most that was measured. Narrow enough for a phone. As SVG. One thread.
 */
public final class DotPlot extends Plot {
  private static final int NARROW = 480;
  private static final int TOP = 64;
  private static final int ROW_HEIGHT = 38;
  private static final int SCALE_HEIGHT = 44;
  private static final int MARGIN = 16;

  private final String unit;
  private final Map<String, List<Dot>> rows = new LinkedHashMap<>();
  private final List<String> series = new ArrayList<>();

  private record Dot(int series, double median, double min, double max) {}

  /**
   * @param unit of all values
   */
  public DotPlot(String title, String unit) {
    super(title);
    this.unit = unit;
  }

  /**
   * Some columns of a table.
   *
   * @param columns the titles of figures, each a series
   */
  public static DotPlot of(String title, Figures figures, Unit unit, String... columns) {
    DotPlot plot = new DotPlot(title, unit.drawn());
    List<String> shown = List.of(columns);
    figures.bars(unit).stream()
        .filter(bar -> shown.contains(bar.panel()))
        .forEach(bar -> plot.dot(bar.panel(), bar.name(), bar.median(), bar.min(), bar.max()));
    return plot;
  }

  /** Adds a dot to the row of a name. All values are more than 0. */
  public DotPlot dot(String ofSeries, String name, double median, double min, double max) {
    if (!series.contains(ofSeries)) {
      series.add(ofSeries);
    }
    rows.computeIfAbsent(name, _ -> new ArrayList<>())
        .add(new Dot(series.indexOf(ofSeries), median, min, max));
    return this;
  }

  @Override
  boolean isNarrow() {
    return true;
  }

  @Override
  public String svg() {
    Axis scale =
        Axis.logarithmic(
            all().mapToDouble(Dot::min).min().orElse(1),
            all().mapToDouble(Dot::max).max().orElse(1),
            MARGIN,
            NARROW - MARGIN);
    int floor = TOP + rows.size() * ROW_HEIGHT;
    StringBuilder body = new StringBuilder(legend());
    for (double tick : scale.ticks()) {
      body.append(
          String.format(
              Locale.ROOT,
              "<path d=\"M%.1f %dV%d\" stroke=\"#dddddd\"/>%n",
              scale.at(tick),
              TOP,
              floor));
      body.append(text(scale.at(tick), floor + 16, "text-anchor=\"middle\"", Axis.name(tick)));
    }
    body.append(text(NARROW / 2.0, floor + 34, "text-anchor=\"middle\" fill=\"#555555\"", unit));
    int y = TOP;
    for (Map.Entry<String, List<Dot>> row : rows.entrySet()) {
      body.append(text(0, y + 14, "", row.getKey()));
      body.append(
          text(NARROW, y + 14, "text-anchor=\"end\" font-weight=\"bold\"", values(row.getValue())));
      for (Dot dot : row.getValue()) {
        body.append(drawn(dot, scale, y + 26));
      }
      y += ROW_HEIGHT;
    }
    return document(NARROW, floor + SCALE_HEIGHT, body.toString());
  }

  private Stream<Dot> all() {
    return rows.values().stream().flatMap(List::stream);
  }

  private static String values(List<Dot> dots) {
    return dots.stream()
        .map(dot -> String.format(Locale.ROOT, dot.median < 10 ? "%.2f" : "%.1f", dot.median))
        .collect(Collectors.joining(" · "));
  }

  private static String drawn(Dot dot, Axis scale, int y) {
    String colour = COLOURS[dot.series % COLOURS.length];
    return String.format(
        Locale.ROOT,
        "<path d=\"M%.1f %dH%.1f\" stroke=\"%s\" stroke-width=\"2\"/>%n"
            + "<circle cx=\"%.1f\" cy=\"%d\" r=\"5\" fill=\"%s\"/>%n",
        scale.at(dot.min),
        y,
        scale.at(dot.max),
        colour,
        scale.at(dot.median),
        y,
        colour);
  }

  private String legend() {
    StringBuilder legend = new StringBuilder();
    for (int i = 0; i < series.size(); i++) {
      int x = i * NARROW / 2;
      legend.append(
          String.format(
              Locale.ROOT,
              "<circle cx=\"%d\" cy=\"46\" r=\"5\" fill=\"%s\"/>%n",
              x + 5,
              COLOURS[i % COLOURS.length]));
      legend.append(text(x + 16, 50, "", series.get(i)));
    }
    return legend.toString();
  }
}
