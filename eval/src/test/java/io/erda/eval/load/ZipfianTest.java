package io.erda.eval.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ZipfianTest {
  private static final int OBJECTS = 1_000;
  private static final int DRAWN = 100_000;

  private final Zipfian zipfian = new Zipfian(OBJECTS);

  @Test
  void sharesFallWithTheRankAndMakeAWhole() {
    // The harmonic number of 1,000 with the exponent 0.99 is about 7.73.
    assertEquals(1 / 7.73, zipfian.share(0), 0.001);
    assertEquals(Math.pow(2, 0.99), zipfian.share(0) / zipfian.share(1), 1e-9);
    assertEquals(1, IntStream.range(0, OBJECTS).mapToDouble(zipfian::share).sum(), 1e-9);
  }

  @Test
  void eachRankHasAnObject() {
    assertEquals(OBJECTS, IntStream.range(0, OBJECTS).map(zipfian::number).distinct().count());
    assertTrue(Math.abs(zipfian.number(0) - zipfian.number(1)) > 1, "hot ones are not adjacent");
  }

  @Test
  void objectsAreDrawnByTheirShares() {
    SplittableRandom random = new SplittableRandom(7);
    int[] counts = new int[OBJECTS];
    for (int i = 0; i < DRAWN; i++) {
      counts[zipfian.next(random)]++;
    }
    for (int rank : new int[] {0, 1, 10}) {
      assertEquals(
          zipfian.share(rank),
          counts[zipfian.number(rank)] / (double) DRAWN,
          0.005,
          "rank " + rank);
    }
  }
}
