package io.erda.eval.baselines;

/**
 * The measurements of the paper (§5, figures 14 to 25), as ratios of Erda, which announces first
 * there, to a baseline, because its machines differ from ours.
 */
final class PaperFigures {
  /** The ratio of the mean time of an operation with Erda to that with a baseline. */
  static double latencyRatio(Workload workload, Scheme other) {
    return switch (workload) {
      case YCSB_C -> ratio(62.84, 92.7, 92.48, other);
      case YCSB_B -> ratio(62.76, 94.71, 94.25, other);
      case YCSB_A -> ratio(74.64, 100, 100.18, other);
      case UPDATES -> ratio(102.1, 103.89, 105.47, other);
    };
  }

  /** The ratio of the operations a second with Erda to those with a baseline. */
  static double throughputRatio(Workload workload, Scheme other) {
    return switch (workload) {
      case YCSB_C -> ratio(96.35, 62.93, 63.28, other);
      case YCSB_B -> ratio(92.57, 61.78, 62.57, other);
      case YCSB_A -> ratio(79.77, 57.60, 58.32, other);
      case UPDATES -> ratio(1, 1, 1, other); // "about equal"
    };
  }

  /**
   * The ratio of the server's processor time with a baseline to that with Erda; may be infinite.
   */
  static double cpuRatio(Workload workload, Scheme other) {
    boolean redo = requireBaseline(other) == Scheme.REDO_LOGGING;
    return switch (workload) {
      case YCSB_C -> Double.POSITIVE_INFINITY;
      case YCSB_B -> redo ? 20.09 : 20.81;
      case YCSB_A -> redo ? 1.89 : 1.96;
      case UPDATES -> redo ? 1.17 : 1.11;
    };
  }

  private static double ratio(
      double erda, double redoLogging, double readAfterWrite, Scheme other) {
    return erda / (requireBaseline(other) == Scheme.REDO_LOGGING ? redoLogging : readAfterWrite);
  }

  private static Scheme requireBaseline(Scheme other) {
    if (!other.isBaseline()) {
      throw new IllegalArgumentException("the paper does not compare Erda with " + other.title);
    }
    return other;
  }

  private PaperFigures() {}
}
