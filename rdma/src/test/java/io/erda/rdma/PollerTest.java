package io.erda.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** Tests {@link Poller} with a simulated clock. */
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

  /** The time of a yield. */
  private long yieldNs;

  private Poller contended(long budgetNs) {
    return contended(budgetNs, () -> false);
  }

  private Poller contended(long budgetNs, BooleanSupplier aside) {
    return new Poller(() -> now, () -> now += yieldNs, 1_000, budgetNs, aside);
  }

  /** How long it polls in vain. */
  private long polls(Poller poller) {
    poller.reset();
    long begin = now;
    idleTurns(poller, 10);
    return now - begin;
  }

  @Test
  void whereAYieldGivesTheCoreAwayForLongItSleepsInstead() {
    Poller poller = contended(50_000);
    yieldNs = 3_000_000;
    assertTrue(polls(poller) >= 3_000_000, "how else would it know");
    long begin = now;
    assertTrue(polls(poller) < 2_000, "it has just met that");
    now = begin + 2 * yieldNs;
    assertTrue(polls(poller) >= 3_000_000, "once more, to see whether it is still so");
    now += 2 * yieldNs;
    assertTrue(polls(poller) < 2_000, "the second time it takes longer until it tries again");
    now += 4 * yieldNs;
    yieldNs = 300;
    assertTrue(polls(poller) >= 50_000, "nobody wants the core any more");
    assertTrue(polls(poller) >= 50_000, "and it has noticed");
  }

  @Test
  void whoWasWokenYieldsOnceAfterItsFirstWork() {
    int[] yields = new int[1];
    Poller poller = new Poller(() -> now, () -> yields[0]++, 1_000, 50_000, () -> false);
    assertTrue(poller.mayPoll(1));
    assertEquals(0, yields[0], "nobody woke it");
    poller.woken();
    assertTrue(poller.mayPoll(0));
    assertEquals(0, yields[0], "it has answered nobody yet");
    assertTrue(poller.mayPoll(1));
    assertEquals(1, yields[0]);
    assertTrue(poller.mayPoll(1));
    assertEquals(1, yields[0], "once");
    poller.woken();
    poller.reset();
    assertTrue(poller.mayPoll(1));
    assertEquals(1, yields[0], "what it did after that sleep was nothing");
  }

  @Test
  void whoseBudgetIsLongYieldsWhateverThatTakes() {
    Poller poller = contended(1L << 40);
    yieldNs = 3_000_000;
    for (int i = 0; i < 1000; i++) {
      now += 10;
      assertTrue(poller.mayPoll(0));
    }
    assertTrue(now > 1_000_000_000);
  }

  /**
   * A poller whose yields let other threads run tries to get another core, more and more seldom.
   */
  @Test
  void whoSharesItsCoreStepsAsideNowAndThen() {
    int[] asked = {0};
    Poller poller =
        contended(
            50_000,
            () -> {
              asked[0]++;
              return false;
            });
    yieldNs = 300;
    polls(poller);
    assertEquals(0, asked[0], "alone");

    yieldNs = 3_000;
    for (int i = 0; i < 1_000; i++) {
      polls(poller);
    }
    int often = asked[0];
    assertTrue(often >= 3 && often <= 6, often + " times in 50 ms");
    for (int i = 0; i < 20_000; i++) {
      polls(poller);
    }
    assertTrue(asked[0] - often <= 10, asked[0] + " times in a second");

    yieldNs = 300;
    polls(poller);
    yieldNs = 3_000;
    int before = asked[0];
    for (int i = 0; i < 200; i++) {
      polls(poller);
    }
    assertTrue(asked[0] > before, "alone for a while, it begins anew");
  }

  /** A poller that has got another core polls there instead of sleeping for a while. */
  @Test
  void whoHasSteppedAsidePolls() {
    Poller poller =
        contended(
            50_000,
            () -> {
              yieldNs = 300;
              return true;
            });
    yieldNs = 3_000_000; // somebody who does not yield
    polls(poller);
    assertEquals(300, yieldNs);
    assertTrue(polls(poller) >= 50_000, "it polls");
  }
}
