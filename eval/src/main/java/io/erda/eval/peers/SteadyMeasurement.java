package io.erda.eval.peers;

import io.erda.console.Numbers;
import io.erda.eval.peers.Column.Cell;
import io.erda.eval.peers.process.PeerProcess;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Rounds;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Gets and puts of stores that have been in use for a while: systems take turns, round after round,
 * and all other systems sleep during a turn.
 */
final class SteadyMeasurement {
  private final Stage stage;
  private final Cell cell;
  private final Column get;
  private final Column put;

  SteadyMeasurement(Stage stage, Column.Scale scale, Column get, Column put) {
    this.stage = stage;
    this.cell = stage.sizes().cell(scale);
    this.get = get;
    this.put = put;
  }

  /** Measures systems, all open at the same time. */
  void together(List<PeerSystem> systems, PeerFigures figures) {
    Map<PeerSystem, MeasuredPeer> peers = new EnumMap<>(PeerSystem.class);
    try {
      for (PeerSystem system : systems) {
        stage
            .context()
            .progress()
            .step(
                system.title()
                    + ": "
                    + Numbers.count(cell.objects())
                    + " objects of "
                    + cell.valueBytes()
                    + " bytes");
        MeasuredPeer peer = MeasuredPeer.create(stage, system, cell, false);
        peers.put(system, peer);
        bringToSteadyState(peer.process());
      }
      takeTurns(peers, figures);
    } finally {
      peers.values().forEach(MeasuredPeer::close);
    }
  }

  /** Measures systems of which only one fits into memory. */
  void oneByOne(List<PeerSystem> systems, PeerFigures figures) {
    systems.forEach(system -> together(List.of(system), figures));
  }

  private void bringToSteadyState(PeerProcess process) {
    stage.context().progress().at("load");
    process.load();
    stage.context().progress().at("warm up");
    process.put(stage.sizes().firstPuts());
    process.get(stage.sizes().firstGets());
    stage.context().progress().done("");
  }

  private void takeTurns(Map<PeerSystem, MeasuredPeer> peers, PeerFigures figures) {
    stage.context().progress().step("in turns");
    Rounds rounds = new Rounds();
    peers.forEach((system, peer) ->
        rounds
            .measure(system + " get", () -> peer.process().get(stage.sizes().turn()))
            .measure(system + " put", () -> peer.process().put(stage.sizes().turn())));
    rounds.run(0, stage.rounds(), stage.context().progress());
    stage.context().progress().done("");
    for (PeerSystem system : peers.keySet()) {
      figures.add(get, system, rounds.values(system + " get"));
      figures.add(put, system, rounds.values(system + " put"));
    }
  }
}
