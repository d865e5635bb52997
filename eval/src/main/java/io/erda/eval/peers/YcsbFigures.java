package io.erda.eval.peers;

import io.erda.eval.load.LoadResult;
import io.erda.eval.load.Percentiles;
import io.erda.eval.peers.PeerFigures.Spread;
import io.erda.eval.peers.process.PeerSystem;
import java.util.ArrayList;
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
  private final Map<PeerSystem, String> durability = new EnumMap<>(PeerSystem.class);
  private final Map<PeerSystem, String> losses = new EnumMap<>(PeerSystem.class);

  void add(PeerSystem system, String what, LoadResult result) {
    results
        .computeIfAbsent(system, any -> new HashMap<>())
        .computeIfAbsent(what, any -> new ArrayList<>())
        .add(result);
  }

  /** What a put survives by what the store says, and what a kill has left of it. */
  void addDurability(PeerSystem system, String promised, String lost) {
    durability.put(system, promised);
    losses.put(system, lost);
  }

  /** What a put survives by what its store says, unless a kill has shown that it is less. */
  String survives(PeerSystem system) {
    return lost(system).isEmpty() ? durability.get(system) : "not a kill -9";
  }

  /** What was not there after a kill; empty when all was. */
  String lost(PeerSystem system) {
    return losses.get(system);
  }

  /** A figure of all rounds. */
  Spread of(PeerSystem system, String what, ToDoubleFunction<LoadResult> figure) {
    return Spread.of(results.get(system).get(what).stream().mapToDouble(figure).toArray());
  }

  Spread perSecond(PeerSystem system, String what) {
    return of(system, what, LoadResult::throughputOpsPerSecond);
  }

  /** How long operations of one kind took: the medians of rounds, but the longest of all. */
  Percentiles times(PeerSystem system, String what, Function<LoadResult, Percentiles> kind) {
    return new Percentiles(
        (long) of(system, what, result -> kind.apply(result).count()).median(),
        (long) of(system, what, result -> kind.apply(result).p50()).median(),
        (long) of(system, what, result -> kind.apply(result).p99()).median(),
        (long) of(system, what, result -> kind.apply(result).p999()).median(),
        (long) of(system, what, result -> kind.apply(result).max()).max());
  }

  /** Operations that did not answer OK, in all rounds together. */
  long errors(PeerSystem system) {
    return results.get(system).values().stream()
        .flatMap(List::stream)
        .mapToLong(LoadResult::errors)
        .sum();
  }
}
