package io.erda.eval.experiments.scale;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.erda.eval.report.Report;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class CurveTest {
  private final Curve curve = new Curve("Title", "objects", Curve.FLOOR, Curve.GET, Curve.PUT);

  CurveTest() {
    curve.add(1_000, 200, 300, 1_500);
    curve.add(10_000_000, 400, 1_000, Double.NaN);
  }

  @Test
  void aGetIsToldAsAMultipleOfTheFloorBesideIt() {
    assertEquals(1.5, curve.multiple(1_000));
    assertEquals(2.5, curve.multiple(10_000_000));
    String table = told().text();
    assertTrue(table.contains("1,000 objects  10,000,000"), table);
    assertTrue(table.contains("get                  300 ns      1.0 µs"), table);
    assertTrue(table.contains("put                  1.5 µs           –"), table);
    assertTrue(table.contains("get                       1.50        2.50"), table);
  }

  @Test
  void placesAreCompared() {
    assertEquals(2, curve.times(Curve.FLOOR, curve.first(), curve.last()));
  }

  @Test
  void whatWasNotMeasuredIsNotDrawn() {
    String svg = told().parts().getLast().html();
    // Each mark is a line of no length.
    Matcher marks = Pattern.compile("class=\"mark\" d=\"([^\"]*)\"").matcher(svg);
    int drawn = marks.results().mapToInt(each -> each.group(1).split("h", -1).length - 1).sum();
    assertEquals(5, drawn, svg);
  }

  @Test
  void programsGetAllOfIt() {
    JsonNode json = told().json().get("Stores");
    assertEquals("[1000,10000000]", json.get("objects").toString());
    assertEquals("[1500,null]", json.at("/put/timeNs").toString());
  }

  private Report told() {
    Report report = new Report(false);
    curve.tell("Stores", report);
    return report;
  }
}
