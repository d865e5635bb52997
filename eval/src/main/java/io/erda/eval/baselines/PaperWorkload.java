package io.erda.eval.baselines;

/** The workloads of YCSB that the paper uses. */
enum PaperWorkload {
  YCSB_C("YCSB-C", 0),
  YCSB_B("YCSB-B", 5),
  YCSB_A("YCSB-A", 50),
  UPDATES("update-only", 100);

  final String label;
  final int updatePercent;

  PaperWorkload(String label, int updatePercent) {
    this.label = label;
    this.updatePercent = updatePercent;
  }
}
