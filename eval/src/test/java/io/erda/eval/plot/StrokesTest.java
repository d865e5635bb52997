package io.erda.eval.plot;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class StrokesTest {
  private static final Pattern POINT = Pattern.compile("[Ml](-?[0-9.]+)[ ]?(-?[0-9.]+)");

  /** The places of a path of lines. */
  static double[][] points(String path) {
    double[] at = {0, 0};
    return POINT
        .matcher(path)
        .results()
        .map(step -> {
          at[0] += Double.parseDouble(step.group(1));
          at[1] += Double.parseDouble(step.group(2));
          return at.clone();
        })
        .toArray(double[][]::new);
  }

  @Test
  void eachPointIsToldFromTheOneBefore() {
    double[][] points = {{10.04, 20}, {10.5, 19.5}, {10.5, 30.06}, {12, 29}, {11, 29.04}};
    String path = Strokes.line(points);
    assertEquals("M10 20l.5-.5l0 10.6l1.5-1.1l-1 0", path);
    assertEquals("M10 20h0m2-1.5h0", Strokes.dots(new double[][] {{10, 20}, {12, 18.5}}));
    assertEquals(
        "M10 7.5h2.5m1 0h.1", Strokes.dashes(new double[][] {{10, 12.5}, {13.5, 13.6}}, 7.5));
    assertEquals(
        "M10 20l0 2.5m2-17.5l0 0",
        Strokes.uprights(
            new double[][] {{10, 99}, {12, 99}}, new double[] {20, 5}, new double[] {22.5, 5}));
  }

  @Test
  void whatIsRoundedDoesNotAddUp() {
    double[][] points = new double[1000][];
    Arrays.setAll(points, i -> new double[] {i * 0.34, 100 - i * 0.0499});
    double[][] drawn = points(Strokes.line(points));
    for (int i = 0; i < points.length; i++) {
      assertArrayEquals(points[i], drawn[i], 0.0501, "point " + i);
    }
  }

  /** Of a curve with many points a pixel the outline stays, and each point that stands alone. */
  @Test
  void onlyWhatCannotBeSeenIsLeftOut() {
    Random random = new Random(7);
    double[][] dense = new double[3000][];
    Arrays.setAll(dense, i -> new double[] {62 + i * 0.1, random.nextInt(1800) / 10.0});
    double[][] seen = Strokes.seen(dense);
    assertTrue(seen.length < dense.length / 3, () -> seen.length + " of " + dense.length);
    assertEquals(dense[0], seen[0]);
    assertEquals(dense[2999], seen[seen.length - 1]);
    for (int column = 62; column < 362; column++) {
      int here = column;
      double[][] all =
          Arrays.stream(dense).filter(each -> (int) each[0] == here).toArray(double[][]::new);
      double[][] kept =
          Arrays.stream(seen).filter(each -> (int) each[0] == here).toArray(double[][]::new);
      assertEquals(
          Arrays.stream(all).mapToDouble(each -> each[1]).max(),
          Arrays.stream(kept).mapToDouble(each -> each[1]).max());
      assertEquals(
          Arrays.stream(all).mapToDouble(each -> each[1]).min(),
          Arrays.stream(kept).mapToDouble(each -> each[1]).min());
    }
    double[][] sparse = {{0, 1}, {2, 5}, {4.5, 3}, {9, 3}};
    assertArrayEquals(sparse, Strokes.seen(sparse));
    assertEquals(0, Strokes.seen(new double[0][]).length);
  }
}
