package io.erda.eval.plot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.report.Figures;
import io.erda.eval.report.Unit;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class LinePlotTest {
  private static final double[] TIMES = {0, 5, 10};

  @Test
  void valuesRiseFromTheFloorInProportion() throws Exception {
    Document svg =
        Svg.parse(
            new LinePlot("a < b", "seconds", "µs & more")
                .panel("one")
                .curve("p50", TIMES, new double[] {0, 50, 100})
                .svg());
    double[][] points = points(svg, 0);
    double floor = points[0][1];
    assertTrue(points[2][1] < floor, "more is above");
    assertEquals(2, (floor - points[2][1]) / (floor - points[1][1]), 0.01);
    assertEquals(points[1][0], (points[0][0] + points[2][0]) / 2, 0.2);
  }

  @Test
  void aFactorOfTenIsAsFarAnywhereOnALogarithmicAxis() throws Exception {
    Document svg =
        Svg.parse(
            new LinePlot("times", "seconds", "ns")
                .logarithmic()
                .panel("")
                .curve("get", TIMES, new double[] {3, 30, 300})
                .svg());
    double[][] points = points(svg, 0);
    assertEquals(points[0][1] - points[1][1], points[1][1] - points[2][1], 0.2);
  }

  @Test
  void stepsAreEquallyFarAndPanelsStandSideBySide() throws Exception {
    double[] sizes = {16, 64, 4096};
    Document svg =
        Svg.parse(
            new LinePlot("latency", "bytes", "µs")
                .inSteps()
                .panel("left")
                .curve("Erda", sizes, new double[] {1, 1, 2})
                .panel("right")
                .curve("Erda", sizes, new double[] {1000, 1000, 2000})
                .svg());
    double[][] left = points(svg, 0);
    double[][] right = points(svg, 1);
    assertEquals(left[1][0] - left[0][0], left[2][0] - left[1][0], 0.2);
    assertTrue(right[0][0] > left[2][0]);
    assertEquals(left[2][1], right[2][1], 0.2, "each panel has a scale of its own");
    assertEquals(2, of(svg, "path", "mark").size());
  }

  @Test
  void aMedianHasALineFromTheLeastToTheMost() throws Exception {
    Figures table = new Figures("load", "system").along("gets", Unit.PER_SECOND, "threads", 1, 2);
    table.row("uniform", "Erda").rounds(new double[] {1e6, 2e6, 4e6}, new double[] {1e6, 1e6, 1e6});
    table.row("uniform", "Redis").values(2e6, 4e6);
    Document svg = Svg.parse(LinePlot.of("by threads", table).svg());
    assertEquals(1, of(svg, "path", "range").size(), "single values have no range");
    String[] lines = of(svg, "path", "range").getFirst().getAttribute("d").split("m");
    double[][] range = StrokesTest.points(lines[0]);
    double[][] erda = points(svg, 0);
    double[][] redis = points(svg, 1);
    assertEquals(erda[0][0], range[0][0], 0.2);
    assertEquals(redis[1][1], range[0][1], 0.2, "the most is 4 million");
    assertEquals(erda[1][1], range[1][1], 0.2, "the least is 1 million");
  }

  @Test
  void aShadedStretchLiesWhereItsTimesLie() throws Exception {
    Document svg =
        Svg.parse(
            new LinePlot("cleaning", "seconds", "ns")
                .panel("")
                .curve("get", TIMES, new double[] {1, 1, 1})
                .shade(5, 10)
                .svg());
    double[][] points = points(svg, 0);
    String[] shade = of(svg, "path", "shade").getFirst().getAttribute("d").split("[M h]");
    double from = Double.parseDouble(shade[1]);
    assertEquals(points[1][0], from, 0.2);
    assertEquals(points[2][0], from + Double.parseDouble(shade[3]), 0.2);
  }

  @Test
  void ticksAreRoundAndFew() {
    for (double highest : new double[] {0.07, 1, 3, 9, 10, 99, 1234, 2e6}) {
      List<Double> ticks = Axis.linear(highest, 0, 100).ticks();
      assertTrue(ticks.size() >= 3 && ticks.size() <= 12, highest + ": " + ticks);
      assertEquals(0, ticks.getFirst());
    }
    assertEquals(
        List.of("0", "0.50", "12 k", "1.5 M"),
        List.of(Axis.name(0), Axis.name(0.5), Axis.name(12_000), Axis.name(1_500_000)));
  }

  private static double[][] points(Document svg, int curve) {
    String path = of(svg, "path", "curve").get(curve).getAttribute("d");
    return StrokesTest.points(path);
  }

  private static List<Element> of(Document svg, String tag, String of) {
    List<Element> elements = new ArrayList<>();
    NodeList nodes = svg.getElementsByTagName(tag);
    for (int i = 0; i < nodes.getLength(); i++) {
      Element element = (Element) nodes.item(i);
      if (element.getAttribute("class").equals(of)) {
        elements.add(element);
      }
    }
    return elements;
  }
}
