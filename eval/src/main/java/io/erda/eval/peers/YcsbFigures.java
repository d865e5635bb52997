package io.erda.eval.peers;

import io.erda.eval.load.LoadResult;
import io.erda.eval.load.Percentiles;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Rounds;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** The results of each system by round and workload. */
final class YcsbFigures {
  /** The name of the load by YCSB, which is done once. */
  static final String LOAD = "load";

  /** The name of the operations at a steady rate. */
  static final String PACED = "paced";

  private final Map<PeerSystem, Map<String, List<LoadResult>>> results =
      new EnumMap<>(PeerSystem.class);

  void add(PeerSystem system, String what, LoadResult result) {
    results
        .computeIfAbsent(system, any -> new HashMap<>())
        .computeIfAbsent(what, any -> new ArrayList<>())
        .add(result);
  }

  /** A figure for all rounds. */
  double[] of(PeerSystem system, String what, ToDoubleFunction<LoadResult> figure) {
    return results.get(system).get(what).stream().mapToDouble(figure).toArray();
  }

  double[] perSecond(PeerSystem system, String what) {
    return of(system, what, LoadResult::throughputOpsPerSecond);
  }

  /**
   * Latencies of one kind of operation: medians of the rounds' percentiles, and the longest of all.
   */
  Percentiles times(PeerSystem system, String what, Function<LoadResult, Percentiles> kind) {
    return new Percentiles(
        (long) Rounds.median(of(system, what, result -> kind.apply(result).count())),
        (long) Rounds.median(of(system, what, result -> kind.apply(result).p50())),
        (long) Rounds.median(of(system, what, result -> kind.apply(result).p99())),
        (long) Rounds.median(of(system, what, result -> kind.apply(result).p999())),
        (long)
            Arrays.stream(of(system, what, result -> kind.apply(result).max()))
                .max()
                .orElseThrow());
  }

  /** Number of operations that did not answer OK, of all rounds. */
  long errors(PeerSystem system) {
    return results.get(system).values().stream()
        .flatMap(List::stream)
        .mapToLong(LoadResult::errors)
        .sum();
  }
}
