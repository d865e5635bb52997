package io.erda.eval.peers;

import io.erda.eval.peers.Column.Scale;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Figure;
import java.util.ArrayList;
import java.util.List;

/**
 * A goal: threads on Erda make at least a multiple of the operations that they make on Chronicle
 * Map.
 *
 * @param system the form of Erda
 */
record CoresGoal(PeerSystem system, CoresLoad load, Scale scale, double ratioMin) {
  static final PeerSystem BESIDE = PeerSystem.CHRONICLE_MAP;
  static final List<CoresGoal> ALL = all();

  private static List<CoresGoal> all() {
    List<CoresGoal> goals = new ArrayList<>();
    for (PeerSystem system : List.of(PeerSystem.ERDA_SHM, PeerSystem.ERDA_EMBEDDED)) {
      for (Scale scale : CoresExperiment.SCALES) {
        goals.add(new CoresGoal(system, CoresLoad.UPDATES, scale, 1.0));
        goals.add(new CoresGoal(system, CoresLoad.HALF, scale, 1.0));
        goals.add(new CoresGoal(system, CoresLoad.ZIPFIAN_UPDATES, scale, 0.8));
      }
    }
    return List.copyOf(goals);
  }

  /** Whether a page begins with it: uniform updates. */
  boolean isHeadline() {
    return load == CoresLoad.UPDATES;
  }

  /** The ratio of the operations a second; its limit is not set. */
  Figure ratio(CoresFigures figures, int threads) {
    return Figure.ratio("ratio", figures.ratios(scale, load, system, BESIDE, threads));
  }
}
