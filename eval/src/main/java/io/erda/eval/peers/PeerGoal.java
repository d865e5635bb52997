package io.erda.eval.peers;

import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Figure;
import java.util.List;

/**
 * A goal: a figure of Erda must be at most a multiple of a figure of another system.
 *
 * @param system the form of Erda
 * @param measured the figure of Erda
 * @param peer the system with which Erda is compared
 * @param beside the figure of the peer
 */
record PeerGoal(
    PeerSystem system, Column measured, PeerSystem peer, Column beside, double ratioMax) {
  static final List<PeerGoal> ALL =
      List.of(
          besideMap(PeerSystem.ERDA_SHM, Column.PUT_SMALL, 1.5),
          besideMap(PeerSystem.ERDA_SHM, Column.PUT_KIB, 1.5),
          besideMap(PeerSystem.ERDA_EMBEDDED, Column.PUT_SMALL, 1.0),
          besideMap(PeerSystem.ERDA_EMBEDDED, Column.PUT_KIB, 1.0),
          besideMap(PeerSystem.ERDA_SHM, Column.LOAD, 1.2),
          new PeerGoal(
              PeerSystem.ERDA_SHM,
              Column.LOAD_PIPELINED,
              PeerSystem.CHRONICLE_MAP,
              Column.LOAD,
              0.7),
          besideMap(PeerSystem.ERDA_SHM, Column.GET_SMALL, 1.0),
          besideMap(PeerSystem.ERDA_SHM, Column.GET_KIB, 1.0),
          besideMap(PeerSystem.ERDA_SHM, Column.GET_BIG, 1.1),
          besideMap(PeerSystem.ERDA_SHM, Column.PUT_BIG, 0.5),
          new PeerGoal(
              PeerSystem.ERDA_SHM, Column.GET_KIB, PeerSystem.REDIS, Column.GET_KIB, 1 / 60.0));

  private static PeerGoal besideMap(PeerSystem system, Column column, double ratioMax) {
    return new PeerGoal(system, column, PeerSystem.CHRONICLE_MAP, column, ratioMax);
  }

  /** Whether a page begins with it: gets and puts of 1 KiB by another process. */
  boolean isHeadline() {
    return system == PeerSystem.ERDA_SHM
        && switch (measured) {
          case GET_KIB, PUT_KIB, GET_BIG, PUT_BIG -> true;
          default -> false;
        };
  }

  /** The ratio of the medians; not a number where one of them was not measured. */
  Figure ratio(PeerFigures figures) {
    return Figure.ratio("ratio", figures.median(measured, system) / figures.median(beside, peer))
        .atMost(ratioMax);
  }
}
