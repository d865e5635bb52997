package io.erda.eval.plot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

class BarPlotTest {
  @Test
  void barsAreAsLongAsTheirMediansAndStayInTheirPanel() throws Exception {
    BarPlot plot =
        new BarPlot("a < b & c", "µs")
            .panel("get")
            .bar("one", 1, 1, 1)
            .bar("two", 2, 1, 4)
            .panel("put")
            .bar("one", 500, 400, 1000);

    Document svg = Svg.parse(plot.svg());
    NodeList bars = svg.getElementsByTagName("rect"); // the first is the paper
    assertEquals(4, bars.getLength());
    double one = number(bars.item(1), "width");
    assertEquals(2 * one, number(bars.item(2), "width"), 0.2);
    assertEquals(2 * one, number(bars.item(3), "width"), 0.2);
    assertEquals(attribute(bars.item(1), "fill"), attribute(bars.item(3), "fill"));
    assertEquals("a < b & c", svg.getElementsByTagName("text").item(0).getTextContent());
    String[] box = svg.getDocumentElement().getAttribute("viewBox").split(" ");
    assertTrue(number(bars.item(3), "y") < Double.parseDouble(box[3]));
  }

  private static String attribute(Node node, String name) {
    return ((Element) node).getAttribute(name);
  }

  private static double number(Node node, String name) {
    return Double.parseDouble(attribute(node, name));
  }
}
