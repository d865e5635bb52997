package io.erda.eval.peers;

import io.erda.eval.peers.Column.Scale;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Rounds;
import java.util.HashMap;
import java.util.Map;

/** Operations a second, of all threads together. */
final class CoresFigures {
  private final Map<Turn, double[]> rounds = new HashMap<>();

  /** One combination that is measured once in each round. */
  private record Turn(Scale scale, CoresLoad load, PeerSystem system, int threads) {}

  void add(Scale scale, CoresLoad load, PeerSystem system, int threads, double... perSecond) {
    rounds.put(new Turn(scale, load, system, threads), perSecond.clone());
  }

  /** All rounds; NaN when it was not measured. */
  double[] of(Scale scale, CoresLoad load, PeerSystem system, int threads) {
    return rounds.getOrDefault(new Turn(scale, load, system, threads), new double[] {Double.NaN});
  }

  /** One system beside another, round by round; NaN when one of them was not measured. */
  double[] ratios(Scale scale, CoresLoad load, PeerSystem system, PeerSystem beside, int threads) {
    double[] ours = of(scale, load, system, threads);
    double[] others = of(scale, load, beside, threads);
    return ours.length == others.length ? Rounds.ratios(ours, others) : new double[] {Double.NaN};
  }
}
