package io.erda.eval.experiments.scale;

import io.erda.eval.Experiment.Context;
import java.util.List;

/** One thing that grows, and what is measured beside it. */
interface Growth {
  Found measure(Context context);

  /**
   * What came out.
   *
   * @param words why the curve bends, as far as it was measured
   * @param missed goals of a run of full size, one line each
   */
  record Found(Curve curve, String words, List<String> missed) {
    Found(Curve curve, String words) {
      this(curve, words, List.of());
    }
  }
}
