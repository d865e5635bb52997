package io.erda.eval.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Figures;
import io.erda.eval.report.Report;
import java.util.List;
import org.junit.jupiter.api.Test;

class PeerGoalTest {
  private final PeerFigures figures = new PeerFigures();
  private final PeerGoal goal =
      new PeerGoal(
          PeerSystem.ERDA_SHM, Column.LOAD_PIPELINED, PeerSystem.CHRONICLE_MAP, Column.LOAD, 0.7);

  private Report report() {
    Figures goals = new Figures("goal");
    goals.row("load").add(goal.ratio(figures));
    return new Report(false).add(goals);
  }

  @Test
  void aRatioIsThatOfTheMedians() {
    figures.add(Column.LOAD_PIPELINED, PeerSystem.ERDA_SHM, 900, 140, 10);
    figures.add(Column.LOAD, PeerSystem.CHRONICLE_MAP, 1, 200, 500);
    figures.add(Column.LOAD_PIPELINED, PeerSystem.CHRONICLE_MAP, 1);
    assertEquals(0.7, goal.ratio(figures).value());
    assertEquals(List.of(), report().missed());
  }

  @Test
  void moreThanTheLimitIsMissed() {
    figures.add(Column.LOAD_PIPELINED, PeerSystem.ERDA_SHM, 141);
    figures.add(Column.LOAD, PeerSystem.CHRONICLE_MAP, 200);
    assertEquals(List.of("load: ratio is 0.71, must be ≤ 0.70"), report().missed());
  }

  @Test
  void withoutChronicleMapNothingIsMetOrMissed() {
    figures.add(Column.LOAD_PIPELINED, PeerSystem.ERDA_SHM, 141);
    figures.add(Column.LOAD, PeerSystem.LMDB, 200);
    assertEquals(List.of(), report().missed());
    assertEquals(List.of("load: ratio: not measured"), report().unjudged());
  }
}
