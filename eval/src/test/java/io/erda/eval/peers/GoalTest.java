package io.erda.eval.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.peers.process.PeerSystem;
import org.junit.jupiter.api.Test;

class GoalTest {
  private final PeerFigures figures = new PeerFigures();
  private final Goal goal =
      new Goal(
          PeerSystem.ERDA_SHM, Column.LOAD_PIPELINED, PeerSystem.CHRONICLE_MAP, Column.LOAD, 0.7);

  @Test
  void aRatioIsThatOfTheMedians() {
    figures.add(Column.LOAD_PIPELINED, PeerSystem.ERDA_SHM, 900, 140, 10);
    figures.add(Column.LOAD, PeerSystem.CHRONICLE_MAP, 1, 200, 500);
    figures.add(Column.LOAD_PIPELINED, PeerSystem.CHRONICLE_MAP, 1);
    assertEquals(0.7, goal.ratio(figures));
    assertTrue(goal.isMet(figures));
  }

  @Test
  void moreThanTheLimitIsMissed() {
    figures.add(Column.LOAD_PIPELINED, PeerSystem.ERDA_SHM, 141);
    figures.add(Column.LOAD, PeerSystem.CHRONICLE_MAP, 200);
    assertTrue(goal.isMeasured(figures));
    assertFalse(goal.isMet(figures));
  }

  @Test
  void aSmallRatioIsSaidAsAFraction() {
    assertEquals("1/60", Goal.said(1 / 60.0));
    assertEquals("1/59", Goal.said(1 / 59.9));
    assertEquals("0.50", Goal.said(0.5));
  }

  @Test
  void withoutChronicleMapNothingIsMetOrMissed() {
    figures.add(Column.LOAD_PIPELINED, PeerSystem.ERDA_SHM, 141);
    figures.add(Column.LOAD, PeerSystem.LMDB, 200);
    assertFalse(goal.isMeasured(figures));
    assertFalse(goal.isMet(figures));
  }
}
