package io.erda.eval.baselines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.load.Dataset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ZipfianKeysTest {
  private static final int OBJECTS = 1_000;
  private static final int OPERATIONS = 60_000;

  private static List<String> asked(int updatePercent, long seed) {
    ZipfianKeys keys = new ZipfianKeys(new Dataset(OBJECTS, 16), updatePercent, seed);
    List<String> asked = new ArrayList<>();
    for (int i = 0; i < OPERATIONS; i++) {
      keys.operate(
          key -> asked.add("get " + StandardCharsets.US_ASCII.decode(key.asByteBuffer())),
          (key, value) -> asked.add("put " + StandardCharsets.US_ASCII.decode(key.asByteBuffer())),
          i);
    }
    return asked;
  }

  @Test
  void aSeedGivesOneSequence() {
    assertEquals(asked(50, 7), asked(50, 7));
  }

  @Test
  void keysAreAskedForByTheirRank() {
    Map<String, Integer> counts = new HashMap<>();
    asked(0, 7).forEach(key -> counts.merge(key, 1, Integer::sum));
    List<Integer> sorted = counts.values().stream().sorted((a, b) -> b - a).toList();
    // The harmonic number of 1,000 with the exponent 0.99 is about 7.73.
    assertEquals(OPERATIONS / 7.73, sorted.getFirst(), OPERATIONS / 100.0);
    assertEquals(2, sorted.getFirst() / (double) sorted.get(1), 0.15);
    assertTrue(counts.size() > OBJECTS * 9 / 10, "nearly all are asked for");
  }

  @Test
  void soManyAreUpdates() {
    long puts = asked(5, 7).stream().filter(each -> each.startsWith("put")).count();
    assertEquals(0.05, puts / (double) OPERATIONS, 0.005);
  }
}
