package io.erda.eval.plot;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.imageio.ImageIO;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * Curves over time on a logarithmic scale, with stretches of time shaded. One thread; needs no
 * display.
 */
public final class TimePlot {
  private static final int WIDTH = 1200;
  private static final int HEIGHT = 600;
  private static final Color SHADE = new Color(0x33, 0x66, 0x99, 0x38);

  private final String title;
  private final String yAxis;
  private final List<Curve> curves = new ArrayList<>();
  private final List<double[]> spans = new ArrayList<>();
  private String spanName = "";

  private record Curve(String name, double[] seconds, double[] values) {
    double low() {
      return Arrays.stream(values).min().orElse(1);
    }

    double high() {
      return Arrays.stream(values).max().orElse(10);
    }
  }

  public TimePlot(String title, String yAxis) {
    this.title = title;
    this.yAxis = yAxis;
  }

  /**
   * Adds a curve.
   *
   * @param seconds when, rising
   * @param values more than 0, as many
   */
  public TimePlot curve(String name, double[] seconds, double[] values) {
    curves.add(new Curve(name, seconds, values));
    return this;
  }

  /** Shades a stretch of time; all have one meaning. */
  public TimePlot shade(String name, double fromSeconds, double toSeconds) {
    spanName = name;
    spans.add(new double[] {fromSeconds, toSeconds});
    return this;
  }

  /** Writes it as a PNG. */
  public void write(Path file) throws IOException {
    System.setProperty("java.awt.headless", "true");
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle("seconds")
            .yAxisTitle(yAxis)
            .build();
    chart.getStyler().setYAxisLogarithmic(true);
    chart.getStyler().setLegendPosition(Styler.LegendPosition.OutsideS);
    chart.getStyler().setLegendLayout(Styler.LegendLayout.Horizontal);
    chart.getStyler().setChartBackgroundColor(Color.WHITE);
    double low =
        Math.pow(
            10, Math.floor(Math.log10(curves.stream().mapToDouble(Curve::low).min().orElse(1))));
    double high =
        Math.pow(
            10, Math.ceil(Math.log10(curves.stream().mapToDouble(Curve::high).max().orElse(10))));
    chart.getStyler().setYAxisMin(low);
    chart.getStyler().setYAxisMax(high);
    if (!spans.isEmpty()) {
      addSpans(chart, low, high);
    }
    for (Curve curve : curves) {
      chart.addSeries(curve.name(), curve.seconds(), curve.values()).setMarker(SeriesMarkers.NONE);
    }
    ImageIO.write(BitmapEncoder.getBufferedImage(chart), "png", file.toFile());
  }

  /** One area as high as the plot, which falls to its foot between two spans. */
  private void addSpans(XYChart chart, double low, double high) {
    double[] x = new double[4 * spans.size()];
    double[] y = new double[x.length];
    for (int i = 0; i < spans.size(); i++) {
      double[] span = spans.get(i);
      for (int corner = 0; corner < 4; corner++) {
        x[4 * i + corner] = span[corner / 2];
        y[4 * i + corner] = corner == 1 || corner == 2 ? high : low;
      }
    }
    XYSeries series = chart.addSeries(spanName, x, y);
    series.setXYSeriesRenderStyle(XYSeries.XYSeriesRenderStyle.Area);
    series.setMarker(SeriesMarkers.NONE);
    series.setFillColor(SHADE);
    series.setLineColor(new Color(0, 0, 0, 0));
  }
}
