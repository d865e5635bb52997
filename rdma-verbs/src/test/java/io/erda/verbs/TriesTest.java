package io.erda.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When a peer that does not answer is asked again, and until when. No RDMA is needed. */
class TriesTest {
  private static final long NS_PER_MS = 1_000_000;

  private long nowNs = Long.MAX_VALUE - NS_PER_MS; // Clocks wrap around.

  /** When a peer is asked to which there is a way after some time, and that never answers. */
  private List<Integer> asked(int timeoutMs, int wayMs) {
    Tries tries = new Tries(() -> nowNs, Duration.ofMillis(timeoutMs));
    List<Integer> asked = new ArrayList<>();
    for (int ms = 0; ms < timeoutMs; ms++) {
      assertFalse(tries.isOver(), "after " + ms + " ms");
      assertEquals(timeoutMs - ms, tries.remainingMs());
      if (ms == wayMs || ms > wayMs && tries.isUnanswered()) {
        tries.begin();
        asked.add(ms);
      }
      nowNs += NS_PER_MS;
    }
    assertTrue(tries.isOver());
    return asked;
  }

  @Test
  void theSecondRequestHasTwiceTheTimeOfTheFirst() {
    assertEquals(List.of(0, 2_000), asked(6_000, 0));
  }

  @Test
  void timeCountsFromWhenThePeerIsAsked() {
    assertEquals(List.of(500, 2_500), asked(6_000, 500));
    assertEquals(List.of(2_000, 4_000), asked(6_000, 2_000));
  }

  @Test
  void whoHasTooLittleTimeForTwoWaitsForTheOne() {
    assertEquals(List.of(0, 500), asked(1_000, 0));
    assertEquals(List.of(0), asked(999, 0));
    assertEquals(List.of(2_001), asked(6_000, 2_001));
  }

  @Test
  void theTimeThatRemainsCanBeWaitedFor() {
    Tries tries = new Tries(() -> nowNs, Duration.ofMillis(100));
    nowNs += 100 * NS_PER_MS;
    assertEquals(0, tries.remainingNs());
    nowNs += 1;
    assertTrue(tries.remainingNs() < 0);
    assertEquals(1, tries.remainingMs());
  }
}
