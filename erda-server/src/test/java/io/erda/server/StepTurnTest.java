package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class StepTurnTest {
  private final StepTurn turn = new StepTurn();

  @Test
  void oneThreadAtATimeHasTheTurn() {
    turn.take();
    assertFalse(
        turn.take(() -> {
          throw new AssertionError("two threads have the turn");
        }));
    turn.release();
    assertTrue(
        turn.take(() -> {
          assertFalse(turn.take(() -> true), "two threads have the turn");
          return true;
        }));
    assertFalse(turn.take(() -> false), "there is work left");
    turn.take();
  }

  @Test
  void aStepThatFailsIsTheLastAndTheServersThreadHearsOfIt() {
    StackOverflowError error = new StackOverflowError();
    assertFalse(
        turn.take(() -> {
          throw error;
        }));
    assertFalse(turn.take(() -> true));
    assertSame(error, assertThrows(StackOverflowError.class, turn::take));
    assertSame(error, assertThrows(StackOverflowError.class, turn::end));
  }

  @Test
  void nobodyStepsBehindTheEnd() {
    turn.end();
    assertFalse(turn.take(() -> true));
  }
}
