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

/** What each system did in each round, by what was asked for: a workload of YCSB's, for one. */
final class YcsbFigures {
  /** What YCSB inserted, once. */
  static final String LOAD = "load";

  /** What was done at a steady rate. */
  static final String PACED = "paced";

  private final Map<PeerSystem, Map<String, List<LoadResult>>> results =
      new EnumMap<>(PeerSystem.class);

  void add(PeerSystem system, String what, LoadResult result) {
    results
        .computeIfAbsent(system, any -> new HashMap<>())
        .computeIfAbsent(what, any -> new ArrayList<>())
        .add(result);
  }

  /** A figure of all rounds. */
  double[] of(PeerSystem system, String what, ToDoubleFunction<LoadResult> figure) {
    return results.get(system).get(what).stream().mapToDouble(figure).toArray();
  }

  double[] perSecond(PeerSystem system, String what) {
    return of(system, what, LoadResult::throughputOpsPerSecond);
  }

  /** How long operations of one kind took: the medians of rounds, but the longest of all. */
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

  /** Operations that did not answer OK, in all rounds together. */
  long errors(PeerSystem system) {
    return results.get(system).values().stream()
        .flatMap(List::stream)
        .mapToLong(LoadResult::errors)
        .sum();
  }
}
