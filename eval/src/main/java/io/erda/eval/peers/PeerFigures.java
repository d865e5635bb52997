package io.erda.eval.peers;

import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Rounds;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/** Times of operations, nanoseconds, by measurement and system, and the least possible times. */
final class PeerFigures {
  private final Map<Column, Map<PeerSystem, double[]>> rounds = new EnumMap<>(Column.class);
  private final Map<Column, Double> floors = new EnumMap<>(Column.class);

  void add(Column column, PeerSystem system, double... ns) {
    rounds.computeIfAbsent(column, any -> new EnumMap<>(PeerSystem.class)).put(system, ns.clone());
  }

  /** Sets the least time of an operation of Erda over shared memory on this machine. */
  void addFloor(Column column, double ns) {
    floors.put(column, ns);
  }

  OptionalDouble floor(Column column) {
    Double ns = floors.get(column);
    return ns == null ? OptionalDouble.empty() : OptionalDouble.of(ns);
  }

  /** The values of all rounds. */
  Optional<double[]> of(Column column, PeerSystem system) {
    return Optional.ofNullable(rounds.getOrDefault(column, Map.of()).get(system));
  }

  /** The median; NaN when it was not measured. */
  double median(Column column, PeerSystem system) {
    return of(column, system).map(Rounds::median).orElse(Double.NaN);
  }
}
