package io.erda.eval.baselines;

import org.HdrHistogram.Histogram;

/** What one scheme did, round by round. */
final class Series {
  static final long HIGHEST_NS = 60_000_000_000L;

  final Scheme scheme;
  final Histogram latencies = new Histogram(HIGHEST_NS, 3);
  final double[] perSecond;
  final double[] meanNs;
  final double[] p50Ns;

  /** Processor time that all threads of the server spent on an operation, in the mean. */
  final double[] cpuNs;

  /** That of steps of the server's which had something to do, where it is told. */
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
