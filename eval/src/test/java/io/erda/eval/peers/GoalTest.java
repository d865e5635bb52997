package io.erda.eval.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.peers.process.PeerSystem;
import org.junit.jupiter.api.Test;

class GoalTest {
  private final PeerFigures figures = new PeerFigures();
  private final Goal goal = new Goal(PeerSystem.ERDA_SHM, Column.LOAD_PIPELINED, Column.LOAD, 0.7);

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
  void withoutChronicleMapNothingIsMetOrMissed() {
    figures.add(Column.LOAD_PIPELINED, PeerSystem.ERDA_SHM, 141);
    figures.add(Column.LOAD, PeerSystem.LMDB, 200);
    assertFalse(goal.isMeasured(figures));
    assertFalse(goal.isMet(figures));
  }
}
