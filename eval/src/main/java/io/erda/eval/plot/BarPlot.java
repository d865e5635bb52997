package io.erda.eval.plot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Horizontal bars in panels, each with a scale of its own that begins at zero, with a line from the
 * least to the most that was measured. As SVG, which is written here: what draws on a {@code
 * Graphics2D} would need another library for it. One thread.
 */
public final class BarPlot {
  private static final int WIDTH = 900;
  private static final int NAMES_WIDTH = 300;
  private static final int BARS_WIDTH = 450;
  private static final int BAR_HEIGHT = 14;
  private static final int ROW_HEIGHT = 22;
  private static final int PANEL_GAP = 44;
  private static final int TITLE_HEIGHT = 36;
  private static final String[] COLOURS = {"#1b6ca8", "#5aa9dd", "#d9822b", "#8a8f98", "#b9bec6"};

  private final String title;
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
    this.title = title;
    this.unit = unit;
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

  /** Writes it, and the directory where there is none. */
  public void write(Path file) throws IOException {
    Files.createDirectories(file.toAbsolutePath().getParent());
    Files.writeString(file, svg());
  }

  String svg() {
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
    y += ROW_HEIGHT / 2;
    return String.format(
            Locale.ROOT,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-10 0 %d %d\""
                + " font-family=\"sans-serif\" font-size=\"13\">%n",
            WIDTH + 20,
            y)
        + String.format(
            Locale.ROOT,
            "<rect x=\"-10\" width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>%n",
            WIDTH + 20,
            y)
        + text(0, TITLE_HEIGHT - 12, "font-size=\"16\"", title)
        + body
        + "</svg>\n";
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

  private static String text(int x, int y, String attributes, String text) {
    return String.format(
        Locale.ROOT,
        "<text x=\"%d\" y=\"%d\" %s>%s</text>%n",
        x,
        y,
        attributes,
        text.replace("&", "&amp;").replace("<", "&lt;"));
  }
}
