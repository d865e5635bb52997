package io.erda.eval.peers;

import io.erda.eval.peers.PeerFigures.Spread;
import io.erda.eval.peers.process.PeerSystem;
import java.util.List;

/**
 * What must come out: a figure of Erda's, at most so many times one of Chronicle Map's.
 *
 * @param system of Erda
 * @param measured of it
 * @param beside of Chronicle Map
 */
record Goal(PeerSystem system, Column measured, Column beside, double ratioMax) {
  static final List<Goal> ALL =
      List.of(
          goal(PeerSystem.ERDA_SHM, Column.PUT_SMALL, 1.5),
          goal(PeerSystem.ERDA_SHM, Column.PUT_KIB, 1.5),
          goal(PeerSystem.ERDA_EMBEDDED, Column.PUT_SMALL, 1.0),
          goal(PeerSystem.ERDA_EMBEDDED, Column.PUT_KIB, 1.0),
          goal(PeerSystem.ERDA_SHM, Column.LOAD, 1.2),
          new Goal(PeerSystem.ERDA_SHM, Column.LOAD_PIPELINED, Column.LOAD, 0.7),
          goal(PeerSystem.ERDA_SHM, Column.GET_SMALL, 1.0),
          goal(PeerSystem.ERDA_SHM, Column.GET_KIB, 1.0),
          goal(PeerSystem.ERDA_SHM, Column.GET_BIG, 1.1),
          goal(PeerSystem.ERDA_SHM, Column.PUT_BIG, 0.5));

  private static Goal goal(PeerSystem system, Column column, double ratioMax) {
    return new Goal(system, column, column, ratioMax);
  }

  /** The ratio of the medians; not a number where one of them was not measured. */
  double ratio(PeerFigures figures) {
    Spread ours = figures.of(measured, system);
    Spread theirs = figures.of(beside, PeerSystem.CHRONICLE_MAP);
    return ours == null || theirs == null ? Double.NaN : ours.median() / theirs.median();
  }

  boolean isMet(PeerFigures figures) {
    return ratio(figures) <= ratioMax;
  }

  boolean isMeasured(PeerFigures figures) {
    return !Double.isNaN(ratio(figures));
  }
}
