package io.erda.eval.plot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.image.BufferedImage;
import java.nio.file.Path;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TimePlotTest {
  @TempDir Path directory;

  private BufferedImage written(TimePlot plot, String name) throws Exception {
    Path file = directory.resolve(name);
    plot.write(file);
    BufferedImage image = ImageIO.read(file.toFile());
    assertNotNull(image, "a PNG");
    return image;
  }

  private static TimePlot curve() {
    return new TimePlot("a cleaning", "µs")
        .curve("p50", new double[] {0, 1, 2}, new double[] {1, 10, 100});
  }

  private static long differing(BufferedImage one, BufferedImage other) {
    long differing = 0;
    for (int y = 0; y < one.getHeight(); y++) {
      for (int x = 0; x < one.getWidth(); x++) {
        differing += one.getRGB(x, y) == other.getRGB(x, y) ? 0 : 1;
      }
    }
    return differing;
  }

  @Test
  void shadedSpansShowBesideTheCurve() throws Exception {
    BufferedImage plain = written(curve(), "plain.png");
    BufferedImage shaded =
        written(curve().shade("cleaning", 0.25, 0.75).shade("cleaning", 1.25, 1.75), "shaded.png");
    assertEquals(plain.getWidth(), shaded.getWidth());
    long pixels = (long) plain.getWidth() * plain.getHeight();
    assertTrue(differing(plain, shaded) > pixels / 8, "half of the time is shaded");
    assertEquals(0, differing(plain, written(curve(), "again.png")), "the same picture again");
  }
}
