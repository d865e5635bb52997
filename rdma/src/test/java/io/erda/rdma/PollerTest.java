package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** {@link Poller} under a clock of its own. */
final class PollerTest {
  private long now;

  private long idleTurns(Poller poller, long nsPerTurn) {
    long turns = 0;
    while (poller.mayPoll(0)) {
      now += nsPerTurn;
      turns++;
      assertTrue(turns < 1_000_000);
    }
    return turns;
  }

  @Test
  void pollsForItsBudgetAfterTheLastWork() {
    Poller poller = new Poller(() -> now, 1_000, 10_000);
    idleTurns(poller, 10);
    assertTrue(now >= 10_000 && now < 10_400, "slept after " + now);
    poller.reset();
    long begin = now;
    for (int i = 0; i < 100; i++) {
      assertTrue(poller.mayPoll(0));
      now += 50;
    }
    assertTrue(poller.mayPoll(1), "work begins the budget anew");
    begin = now;
    idleTurns(poller, 10);
    assertTrue(now - begin >= 10_000 && now - begin < 10_400, "slept after " + (now - begin));
  }

  @Test
  void withoutABudgetItSleepsAtOnce() {
    Poller poller = new Poller(() -> now, 0, 0);
    assertFalse(poller.mayPoll(0));
    assertTrue(poller.mayPoll(3));
    assertEquals(0, idleTurns(poller, 1));
  }
}
