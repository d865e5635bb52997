package io.erda.eval.plot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.report.Figure;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Unit;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class DotPlotTest {
  @Test
  void aFactorOfTenIsAsFarInEachRow() throws Exception {
    Document svg =
        Svg.parse(
            new DotPlot("a < b", "µs")
                .dot("get", "Erda", 0.5, 0.4, 0.6)
                .dot("put", "Erda", 5, 4, 6)
                .dot("get", "Redis & more", 50, 40, 60)
                .svg());
    List<Element> dots = dots(svg);
    assertEquals(3, dots.size());
    double[] across = dots.stream().mapToDouble(dot -> number(dot, "cx")).toArray();
    assertEquals(across[1] - across[0], across[2] - across[1], 0.2);
    assertEquals(number(dots.get(0), "cy"), number(dots.get(1), "cy"));
    assertTrue(number(dots.get(2), "cy") > number(dots.get(0), "cy"));
    assertEquals(dots.get(0).getAttribute("fill"), dots.get(2).getAttribute("fill"));
    assertTrue(
        svg.getDocumentElement().getTextContent().contains("0.50 · 5.00"), "what a dot stands for");
  }

  @Test
  void onlyTheColumnsAskedForAreDrawn() throws Exception {
    Figures table = new Figures("system");
    table.row("Erda").add(Figure.ns("get", 1_000), Figure.ns("put", 2_000), Figure.ns("load", 7));
    table.row("floor").add(Figure.ns("get", Double.NaN), Figure.ns("put", 1_000));
    assertEquals(3, dots(Svg.parse(DotPlot.of("t", table, Unit.NS, "get", "put").svg())).size());
  }

  /** All but those of the legend, which stand above. */
  private static List<Element> dots(Document svg) {
    NodeList circles = svg.getElementsByTagName("circle");
    List<Element> dots = new ArrayList<>();
    for (int i = 0; i < circles.getLength(); i++) {
      Element circle = (Element) circles.item(i);
      if (number(circle, "cy") > 60) {
        dots.add(circle);
      }
    }
    return dots;
  }

  private static double number(Element element, String name) {
    return Double.parseDouble(element.getAttribute(name));
  }
}
