package io.erda.eval.peers;

import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Rounds;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;

/** What was measured, and what was found out beside it. */
final class PeerFigures {
  private final Map<Column, Map<PeerSystem, Spread>> spreads = new EnumMap<>(Column.class);
  private final Map<Column, Double> floors = new EnumMap<>(Column.class);
  private final Map<PeerSystem, String> durability = new EnumMap<>(PeerSystem.class);
  private final Map<PeerSystem, String> losses = new EnumMap<>(PeerSystem.class);

  /** Nanoseconds an operation took in all rounds. */
  record Spread(double median, double min, double max, double[] rounds) {
    static Spread of(double... rounds) {
      return new Spread(
          Rounds.median(rounds),
          Arrays.stream(rounds).min().orElseThrow(),
          Arrays.stream(rounds).max().orElseThrow(),
          rounds.clone());
    }
  }

  void add(Column column, PeerSystem system, double... rounds) {
    spreads
        .computeIfAbsent(column, any -> new EnumMap<>(PeerSystem.class))
        .put(system, Spread.of(rounds));
  }

  /** The least that an operation of Erda over shared memory can take here, nanoseconds. */
  void addFloor(Column column, double ns) {
    floors.put(column, ns);
  }

  /** Null where it was not measured. */
  Double floor(Column column) {
    return floors.get(column);
  }

  /** What a put survives by what the store says, and what a kill has left of it. */
  void addDurability(PeerSystem system, String promised, String lost) {
    durability.put(system, promised);
    losses.put(system, lost);
  }

  /** Null where it was not measured. */
  Spread of(Column column, PeerSystem system) {
    return spreads.getOrDefault(column, Map.of()).get(system);
  }

  /** Null where it was not measured. */
  String durability(PeerSystem system) {
    return durability.get(system);
  }

  /** What was not there after a kill; empty when all was. */
  String lost(PeerSystem system) {
    return losses.get(system);
  }
}
