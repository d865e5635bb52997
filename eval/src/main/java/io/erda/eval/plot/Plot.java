package io.erda.eval.plot;

import io.erda.eval.report.Html;
import io.erda.eval.report.Part;
import java.util.Locale;

/** A picture: an SVG document for a file or a page. */
public abstract class Plot implements Part {
  static final int WIDTH = 900;

  /**
   * The colours of the series, in turn. They also differ in brightness, for prints without colours.
   */
  static final String[] COLOURS = {
    "#1b6ca8", "#d9822b", "#5b8c3e", "#8a8f98", "#7a4b9d", "#5aa9dd"
  };

  private final String title;

  Plot(String title) {
    this.title = title;
  }

  /** The title. */
  public final String title() {
    return title;
  }

  /** The SVG document. */
  public abstract String svg();

  /** Whether it is as narrow as a phone. */
  boolean isNarrow() {
    return false;
  }

  @Override
  public final String text() {
    return "";
  }

  @Override
  public final String html() {
    return "<figure" + (isNarrow() ? " class=\"narrow\">" : ">") + svg() + "</figure>\n";
  }

  @Override
  public final Extract extract() {
    return new Extract("svg", svg());
  }

  /** Adds the background below the drawing, and the title. */
  final String document(int height, String body) {
    return document(WIDTH, height, body);
  }

  /** Returns the document with another width. */
  final String document(int width, int height, String body) {
    return String.format(
            Locale.ROOT,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-10 0 %d %d\""
                + " font-family=\"sans-serif\" font-size=\"13\">%n",
            width + 20,
            height)
        + String.format(
            Locale.ROOT,
            "<rect x=\"-10\" width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>%n",
            width + 20,
            height)
        + text(0, 24, "font-size=\"16\"", title)
        + body
        + "</svg>\n";
  }

  static String text(double x, double y, String attributes, String text) {
    return String.format(
        Locale.ROOT,
        "<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>%n",
        x,
        y,
        attributes,
        Html.escape(text));
  }
}
