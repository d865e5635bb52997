package io.erda.eval.baselines;

import org.HdrHistogram.Histogram;

/** The measurements of one scheme, by round. */
final class Series {
  static final long HIGHEST_NS = 60_000_000_000L;

  final Scheme scheme;
  final Histogram latencies = new Histogram(HIGHEST_NS, 3);
  final double[] perSecond;
  final double[] meanNs;
  final double[] p50Ns;

  /** Mean processor time of all threads of the server for an operation. */
  final double[] cpuNs;

  /** Mean time of the server's steps that had something to do, if it was measured. */
  final double[] workNs;

  Series(Scheme scheme, int rounds) {
    this.scheme = scheme;
    perSecond = new double[rounds];
    meanNs = new double[rounds];
    p50Ns = new double[rounds];
    cpuNs = new double[rounds];
    workNs = new double[rounds];
  }
}
