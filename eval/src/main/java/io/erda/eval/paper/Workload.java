package io.erda.eval.paper;

/** YCSB's workloads that the paper has, and what it measured for each (figures 14 to 25). */
enum Workload {
  YCSB_C("YCSB-C", 0, new double[] {62.84, 92.7, 92.48}, new double[] {96.35, 62.93, 63.28}),
  YCSB_B("YCSB-B", 5, new double[] {62.76, 94.71, 94.25}, new double[] {92.57, 61.78, 62.57}),
  YCSB_A("YCSB-A", 50, new double[] {74.64, 100, 100.18}, new double[] {79.77, 57.60, 58.32}),
  UPDATES("update-only", 100, new double[] {102.1, 103.89, 105.47}, new double[] {1, 1, 1});

  final String label;
  final int updatePercent;
  private final double[] paperMicros;
  private final double[] paperThroughput;

  /**
   * @param paperMicros mean latency over value sizes, by scheme
   * @param paperThroughput mean over numbers of threads, by scheme; of updates the paper says that
   *     it is about equal
   */
  Workload(String label, int updatePercent, double[] paperMicros, double[] paperThroughput) {
    this.label = label;
    this.updatePercent = updatePercent;
    this.paperMicros = paperMicros;
    this.paperThroughput = paperThroughput;
  }

  /** The time that an operation takes with Erda beside that with another scheme. */
  double paperLatencyRatio(Scheme other) {
    return paperMicros[Scheme.ERDA.ordinal()] / paperMicros[other.ordinal()];
  }

  /** The operations a second with Erda beside those with another scheme. */
  double paperThroughputRatio(Scheme other) {
    return paperThroughput[Scheme.ERDA.ordinal()] / paperThroughput[other.ordinal()];
  }

  /** The server's processor time with another scheme beside that with Erda. */
  String paperCpuRatio(Scheme other) {
    boolean redo = other == Scheme.REDO_LOGGING;
    return switch (this) {
      case YCSB_C -> "∞";
      case YCSB_B -> redo ? "20.09" : "20.81";
      case YCSB_A -> redo ? "1.89" : "1.96";
      case UPDATES -> redo ? "1.17" : "1.11";
    };
  }
}
