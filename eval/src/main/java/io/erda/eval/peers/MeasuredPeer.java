package io.erda.eval.peers;

import io.erda.eval.peers.Column.Cell;
import io.erda.eval.peers.process.PeerProcess;
import io.erda.eval.peers.process.PeerSetup;
import io.erda.eval.peers.process.PeerSystem;
import java.nio.file.Path;

/**
 * A system with a store in its own directory. Closing kills its processes and removes the directory
 * at once, because the next store may need the space.
 */
final class MeasuredPeer implements AutoCloseable {
  private final Stage stage;
  private final PeerSystem system;
  private final Cell cell;
  private final boolean pipelined;
  private final Path directory;
  private PeerProcess process;

  private MeasuredPeer(Stage stage, PeerSystem system, Cell cell, boolean pipelined) {
    this.stage = stage;
    this.system = system;
    this.cell = cell;
    this.pipelined = pipelined;
    this.directory = stage.context().newDirectory("peers");
  }

  /**
   * Makes an empty store, and returns when it is open.
   *
   * @param cell the objects that it will hold
   * @param pipelined whether many puts are made at once
   */
  static MeasuredPeer create(Stage stage, PeerSystem system, Cell cell, boolean pipelined) {
    MeasuredPeer peer = new MeasuredPeer(stage, system, cell, pipelined);
    peer.startAgain();
    return peer;
  }

  /** The current process that uses the store, or the last one. */
  PeerProcess process() {
    return process;
  }

  /** Opens the store in other processes, after the last ones have been killed. */
  void startAgain() {
    process =
        PeerProcess.start(
            new PeerSetup(
                stage.context().children(),
                stage.context().jvm(),
                stage.libraries(),
                system,
                directory,
                cell.objects(),
                cell.valueBytes(),
                pipelined));
  }

  @Override
  public void close() {
    process.close();
    stage.context().children().removeNow(directory);
  }
}
