package io.erda.eval.peers;

import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Rounds;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/** Nanoseconds that operations took, by what was measured of which system, and the least of all. */
final class PeerFigures {
  private final Map<Column, Map<PeerSystem, double[]>> rounds = new EnumMap<>(Column.class);
  private final Map<Column, Double> floors = new EnumMap<>(Column.class);

  void add(Column column, PeerSystem system, double... ns) {
    rounds.computeIfAbsent(column, any -> new EnumMap<>(PeerSystem.class)).put(system, ns.clone());
  }

  /** Sets the least that an operation of Erda over shared memory can take here. */
  void addFloor(Column column, double ns) {
    floors.put(column, ns);
  }

  OptionalDouble floor(Column column) {
    Double ns = floors.get(column);
    return ns == null ? OptionalDouble.empty() : OptionalDouble.of(ns);
  }

  /** All rounds. */
  Optional<double[]> of(Column column, PeerSystem system) {
    return Optional.ofNullable(rounds.getOrDefault(column, Map.of()).get(system));
  }

  /** The median; not a number where it was not measured. */
  double median(Column column, PeerSystem system) {
    return of(column, system).map(Rounds::median).orElse(Double.NaN);
  }
}
