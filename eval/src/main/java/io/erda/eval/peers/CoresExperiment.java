package io.erda.eval.peers;

import io.erda.eval.Experiment;
import io.erda.eval.peers.Column.Scale;
import io.erda.eval.peers.process.PeerLibraries;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Report;
import java.util.List;
import java.util.TreeSet;

/**
 * Throughput of one process by the number of its threads, each with a client of its own, up to a
 * thread for each core. The stores have been written for a while when they are measured; only
 * inserts have fresh pages.
 */
public final class CoresExperiment implements Experiment {
  /** The systems that several threads can use at once; a single writer would hold LMDB's back. */
  static final List<PeerSystem> SYSTEMS =
      List.of(
          PeerSystem.ERDA_SHM,
          PeerSystem.ERDA_EMBEDDED,
          PeerSystem.ERDA_TCP,
          PeerSystem.CHRONICLE_MAP,
          PeerSystem.REDIS_TCP_THREADS,
          PeerSystem.MEMCACHED_THREADS);

  static final List<Scale> SCALES = List.of(Scale.SMALL, Scale.KIB);

  @Override
  public String name() {
    return "cores";
  }

  @Override
  public String what() {
    return "operations a second of a process with 1 to as many threads as there are cores, each"
        + " with a client of its own, beside Chronicle Map, Redis and memcached: on 16 cores or"
        + " more, 12 threads on Erda make as many updates as on Chronicle Map, also when half are"
        + " gets, and 0.8 times as many updates of Zipfian keys";
  }

  @Override
  public Report run(Context context) {
    Stage stage =
        new Stage(
            context,
            PeerLibraries.installed(),
            context.quick() ? PeerSizes.THREADS_QUICK : PeerSizes.THREADS);
    int cores = Runtime.getRuntime().availableProcessors();
    CoresFigures figures = new CoresFigures();
    for (Scale scale : SCALES) {
      new CoresMeasurement(stage, scale, threadCounts(cores), figures)
          .run(stage.available(SYSTEMS));
    }
    return new CoresReport(stage, cores, figures).report();
  }

  /**
   * The numbers of threads, rising: powers of two, as many as there are cores, and where there are
   * enough cores the number with which goals are judged.
   */
  static List<Integer> threadCounts(int cores) {
    TreeSet<Integer> counts = new TreeSet<>();
    for (int threads = 1; threads < cores; threads *= 2) {
      counts.add(threads);
    }
    counts.add(cores);
    if (cores >= CoresReport.JUDGED_CORES) {
      counts.add(CoresReport.JUDGED_THREADS);
    }
    return List.copyOf(counts);
  }
}
