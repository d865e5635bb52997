package io.erda.eval.peers;

import io.erda.eval.peers.Column.Cell;
import io.erda.eval.peers.process.PeerProcess;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.process.ProcessException;
import java.nio.file.Path;
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
      Path directory = stage.newDirectory();
      try {
        String durability = loadAndKill(system, directory);
        figures.addDurability(system, durability, lost(system, directory));
      } finally {
        stage.remove(directory);
      }
    }
    stage.context().progress().done("");
  }

  private String loadAndKill(PeerSystem system, Path directory) {
    try (PeerProcess process = stage.start(system, directory, cell, false)) {
      process.load();
      return process.durability();
    }
  }

  private String lost(PeerSystem system, Path directory) {
    try (PeerProcess process = stage.start(system, directory, cell, false)) {
      process.verify();
      return "";
    } catch (ProcessException e) {
      return e.getMessage();
    }
  }
}
