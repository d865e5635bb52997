package io.erda.eval.peers;

import io.erda.eval.peers.Column.Cell;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Rounds;
import java.util.List;

/**
 * How quickly a fresh JVM fills an empty store, which users notice: from the first put to the last,
 * one at a time, and many at once if a system can.
 */
final class LoadMeasurement {
  private final Stage stage;
  private final Cell cell;

  LoadMeasurement(Stage stage, Column.Scale scale) {
    this.stage = stage;
    this.cell = stage.sizes().cell(scale);
  }

  void run(List<PeerSystem> systems, PeerFigures figures) {
    stage.context().progress().step("load by a fresh JVM");
    List<PeerSystem> pipelining = systems.stream().filter(PeerSystem::pipelines).toList();
    Rounds rounds = new Rounds();
    for (PeerSystem system : systems) {
      rounds.measure(name(system, false), () -> load(system, false));
      if (system.pipelines()) {
        rounds.measure(name(system, true), () -> load(system, true));
      }
    }
    rounds.run(0, stage.rounds(), stage.context().progress());
    systems.forEach(system -> figures.add(Column.LOAD, system, rounds.values(name(system, false))));
    pipelining.forEach(
        system -> figures.add(Column.LOAD_PIPELINED, system, rounds.values(name(system, true))));
    stage.context().progress().done("");
  }

  private static String name(PeerSystem system, boolean pipelined) {
    return system + (pipelined ? " pipelined" : "");
  }

  private double load(PeerSystem system, boolean pipelined) {
    try (MeasuredPeer peer = MeasuredPeer.create(stage, system, cell, pipelined)) {
      return peer.process().load();
    }
  }
}
