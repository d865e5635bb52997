package io.erda.eval.experiments.scale;

import io.erda.eval.Experiment.Context;
import io.erda.eval.report.Figure;
import java.util.List;

/** One thing that grows, and what is measured beside it. */
interface Growth {
  Found measure(Context context);

  /**
   * What came out.
   *
   * @param words why the curve bends, as far as it was measured
   * @param judged figures that have goals
   */
  record Found(Curve curve, String words, List<Figure> judged) {
    Found(Curve curve, String words, Figure... judged) {
      this(curve, words, List.of(judged));
    }
  }
}
