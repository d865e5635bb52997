package io.erda.eval.peers;

import io.erda.eval.peers.Column.Cell;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.process.ProcessException;
import java.util.List;

/**
 * What is left of a store whose processes are killed just after its last put. It says nothing of a
 * power failure, and nothing of a kill in the middle of a put.
 */
final class KillCheck {
  private final Stage stage;
  private final Cell cell;

  KillCheck(Stage stage, Column.Scale scale) {
    this.stage = stage;
    this.cell = stage.sizes().cell(scale);
  }

  void run(List<PeerSystem> systems, PeerFigures figures) {
    stage.context().progress().step("kill processes and look what is there");
    for (PeerSystem system : systems) {
      stage.context().progress().at(system.title());
      try (MeasuredPeer peer = MeasuredPeer.create(stage, system, cell, false)) {
        peer.process().load();
        String durability = peer.process().durability();
        peer.process().close();
        figures.addDurability(system, durability, lost(peer));
      }
    }
    stage.context().progress().done("");
  }

  /**
   * Opens a store again whose processes were killed. Says what is lost; nothing where all is there.
   */
  static String lost(MeasuredPeer peer) {
    try {
      peer.startAgain();
      peer.process().verify();
      return "";
    } catch (ProcessException e) {
      return e.getMessage();
    }
  }
}
