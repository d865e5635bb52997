package io.erda.launcher.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a thread is kept at its share, by a clock of the test's own. */
class PausesTest {
  private static final long PIECE_NS = 2_000;

  private long nowNs;
  private long sleptNs;
  private long longestStretchNs;
  private long wokeNs;

  @ParameterizedTest
  @ValueSource(ints = {1, 10, 20, 50, 99, 100})
  void workHasItsShareOfTheTime(int percent) {
    Pauses pauses = pauses(percent);
    work(pauses, 100_000);
    double share = 100.0 * (nowNs - sleptNs) / nowNs;
    assertEquals(percent, share, 0.05 * percent);
  }

  @Test
  void noStretchIsLong() {
    work(pauses(20), 100_000);
    assertTrue(longestStretchNs <= 140_000, longestStretchNs + " ns without a pause");
  }

  @Test
  void whoLostTheProcessorForASecondDoesNotSleepForManySeconds() {
    Pauses pauses = pauses(10);
    work(pauses, 15);
    nowNs += 1_000_000_000;
    work(pauses, 1);
    assertTrue(sleptNs > 0 && sleptNs < 10_000_000, sleptNs + " ns");
  }

  private Pauses pauses(int percent) {
    return new Pauses(percent, () -> nowNs, this::sleep);
  }

  private void sleep(long ns) {
    longestStretchNs = Math.max(longestStretchNs, nowNs - wokeNs);
    nowNs += ns;
    sleptNs += ns;
    wokeNs = nowNs;
  }

  private void work(Pauses pauses, int pieces) {
    for (int i = 0; i < pieces; i++) {
      nowNs += PIECE_NS;
      pauses.between();
    }
  }
}
