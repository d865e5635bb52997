package io.erda.eval.report;

/**
 * What a figure must be.
 *
 * @param limit in the figure's unit
 * @param atAnySize whether a quick run can tell, because neither its length nor what else the
 *     machine does changes the figure
 */
record Goal(Bound bound, double limit, boolean atAnySize) {
  /** On which side of the limit. */
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

  /** False of what is not a number. */
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
