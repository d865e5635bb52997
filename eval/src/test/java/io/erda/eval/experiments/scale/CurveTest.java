package io.erda.eval.experiments.scale;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.eval.report.Part;
import java.util.List;
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
    String table = parts().get(1).text();
    assertTrue(table.contains("multiple of the floor"), table);
    assertTrue(table.contains("10,000,000  400 ns  1.0 µs       –"), table);
    assertTrue(table.contains("1.50"), table);
  }

  @Test
  void placesAreCompared() {
    assertEquals(2, curve.times(Curve.FLOOR, curve.first(), curve.last()));
  }

  @Test
  void whatWasNotMeasuredIsNotDrawn() {
    String svg = parts().get(2).html();
    assertEquals(5, svg.split("<circle", -1).length - 1, svg);
  }

  @Test
  void programsGetAllOfIt() {
    ObjectNode json = new ObjectMapper().createObjectNode();
    curve.write(json);
    assertEquals("[1000.0,1.0E7]", json.get("objects").toString());
    assertEquals("[1500.0,null]", json.get("putNs").toString());
  }

  private List<Part> parts() {
    return curve.parts("Why.");
  }
}
