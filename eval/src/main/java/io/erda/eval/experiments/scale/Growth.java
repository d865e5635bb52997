package io.erda.eval.experiments.scale;

import io.erda.eval.Experiment.Context;
import io.erda.eval.report.Figure;
import java.util.List;

/** A quantity that grows, and the measurements along it. */
interface Growth {
  Found measure(Context context);

  /**
   * The results.
   *
   * @param words an explanation of the curve, as far as it was measured
   * @param judged figures with goals
   */
  record Found(Curve curve, String words, List<Figure> judged) {
    Found(Curve curve, String words, Figure... judged) {
      this(curve, words, List.of(judged));
    }
  }
}
