package io.erda.eval.report;

/**
 * The goal of a figure.
 *
 * @param limit the limit in the figure's unit
 * @param atAnySize whether a quick run can judge the goal, because neither the length of the run
 *     nor other work of the machine changes the figure
 */
record Goal(Bound bound, double limit, boolean atAnySize) {
  /** The allowed side of the limit. */
  enum Bound {
    AT_MOST("≤"),
    UNDER("<"),
    AT_LEAST("≥"),
    OVER(">");

    private final String sign;

    Bound(String sign) {
      this.sign = sign;
    }
  }

  /** Whether a value meets the goal; false when it is not a number. */
  boolean isMetBy(double value) {
    return switch (bound) {
      case AT_MOST -> value <= limit;
      case UNDER -> value < limit;
      case AT_LEAST -> value >= limit;
      case OVER -> value > limit;
    };
  }

  String text(Unit unit) {
    return bound.sign + " " + unit.text(limit);
  }
}
