package io.erda.eval.plot;

import io.erda.eval.report.Figures;
import io.erda.eval.report.Unit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Horizontal bars in panels, each with its own scale from zero, with a line from the least to the
 * largest measured value. As SVG. One thread.
 */
public final class BarPlot extends Plot {
  private static final int NAMES_WIDTH = 300;
  private static final int BARS_WIDTH = 450;
  private static final int BAR_HEIGHT = 14;
  private static final int ROW_HEIGHT = 22;
  private static final int PANEL_GAP = 44;
  private static final int TITLE_HEIGHT = 36;

  private final String unit;
  private final List<Panel> panels = new ArrayList<>();
  private final List<String> names = new ArrayList<>();

  private record Bar(String name, double median, double min, double max) {}

  private record Panel(String title, List<Bar> bars) {
    double high() {
      return bars.stream().mapToDouble(Bar::max).max().orElse(1);
    }
  }

  public BarPlot(String title, String unit) {
    super(title);
    this.unit = unit;
  }

  /** The figures of a unit in a table: a panel for each column, a bar for each row. */
  public static BarPlot of(String title, Figures figures, Unit unit) {
    BarPlot plot = new BarPlot(title, unit.drawn());
    for (Figures.Bar bar : figures.bars(unit)) {
      if (plot.panels.isEmpty() || !plot.panels.getLast().title().equals(bar.panel())) {
        plot.panel(bar.panel());
      }
      plot.bar(bar.name(), bar.median(), bar.min(), bar.max());
    }
    return plot;
  }

  /** Begins another panel. */
  public BarPlot panel(String panelTitle) {
    panels.add(new Panel(panelTitle, new ArrayList<>()));
    return this;
  }

  /** Adds a bar to the last panel; bars of one name have one colour. */
  public BarPlot bar(String name, double median, double min, double max) {
    panels.getLast().bars().add(new Bar(name, median, min, max));
    if (!names.contains(name)) {
      names.add(name);
    }
    return this;
  }

  @Override
  public String svg() {
    StringBuilder body = new StringBuilder();
    int y = TITLE_HEIGHT;
    for (Panel panel : panels) {
      y += PANEL_GAP - ROW_HEIGHT;
      body.append(text(0, y, "font-weight=\"bold\"", panel.title()));
      y += ROW_HEIGHT / 2;
      for (Bar bar : panel.bars()) {
        body.append(bar(bar, y, BARS_WIDTH / panel.high()));
        y += ROW_HEIGHT;
      }
    }
    return document(y + ROW_HEIGHT / 2, body.toString());
  }

  private String bar(Bar bar, int y, double pixels) {
    double middle = y + BAR_HEIGHT / 2.0;
    return text(NAMES_WIDTH - 8, y + BAR_HEIGHT - 3, "text-anchor=\"end\"", bar.name())
        + String.format(
            Locale.ROOT,
            "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>%n",
            NAMES_WIDTH,
            y,
            bar.median() * pixels,
            BAR_HEIGHT,
            COLOURS[names.indexOf(bar.name()) % COLOURS.length])
        + String.format(
            Locale.ROOT,
            "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#222222\" stroke-width=\"1.5\"/>%n",
            NAMES_WIDTH + bar.min() * pixels,
            middle,
            NAMES_WIDTH + bar.max() * pixels)
        + text(
            NAMES_WIDTH + (int) (bar.max() * pixels) + 8,
            y + BAR_HEIGHT - 3,
            "",
            String.format(Locale.ROOT, "%.2f %s", bar.median(), unit));
  }
}
