package io.erda.server.engine.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Times of answers, beside those that a sorted list has. */
class AnswerTimesTest {
  private static final long SEED = Long.getLong("erda.seed", System.nanoTime());

  private long nowNs = 5;
  private final AnswerTimes times = new AnswerTimes(() -> nowNs);

  private void took(long ns) {
    nowNs += ns;
    times.add(nowNs - ns);
  }

  @Test
  void noneWasTimed() {
    assertEquals(-1, times.permille(500));
    assertEquals(-1, times.permille(990));
  }

  @Test
  void oneThatTookNoTime() {
    took(0);
    assertEquals(0, times.permille(500));
    times.add(nowNs + 100);
    assertEquals(0, times.permille(1000), "a clock of another processor may be behind");
  }

  @Test
  void anEighthTooMuchAtMost() {
    SplittableRandom random = new SplittableRandom(SEED);
    long[] all = new long[10_000];
    for (int i = 0; i < all.length; i++) {
      all[i] = random.nextLong(1L << random.nextInt(1, 19));
      took(all[i]);
    }
    Arrays.sort(all);
    for (int permille : new int[] {1, 10, 500, 900, 990, 999, 1000}) {
      long exact = all[Math.max(1, all.length * permille / 1000) - 1];
      long found = times.permille(permille);
      assertTrue(
          found >= exact && found <= exact + exact / 8,
          permille + ": " + found + " for " + exact + ", -Derda.seed=" + SEED);
    }
  }

  @Test
  void theLongestThatThereIs() {
    nowNs = Long.MAX_VALUE;
    times.add(0);
    assertEquals(Long.MAX_VALUE, times.permille(500));
  }

  @Test
  void whatWasTwentySecondsAgoIsForgotten() {
    took(100);
    long first = times.permille(1000);
    nowNs += AnswerTimes.HALF_NS;
    assertEquals(first, times.permille(1000));
    took(10_000);
    assertTrue(times.permille(1000) >= 10_000);
    assertEquals(first, times.permille(500), "both halves count");
    nowNs += AnswerTimes.HALF_NS;
    assertTrue(times.permille(500) >= 10_000, "the first is forgotten");
    nowNs += AnswerTimes.HALF_NS;
    assertEquals(-1, times.permille(500));
    took(100);
    nowNs += 3 * AnswerTimes.HALF_NS;
    assertEquals(-1, times.permille(500), "nobody asked meanwhile");
  }
}
