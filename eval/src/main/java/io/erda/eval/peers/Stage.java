package io.erda.eval.peers;

import io.erda.eval.Experiment.Context;
import io.erda.eval.peers.Column.Cell;
import io.erda.eval.peers.process.PeerLibraries;
import io.erda.eval.peers.process.PeerProcess;
import io.erda.eval.peers.process.PeerSystem;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** What all measurements of one run share: where stores go, and which systems there are. */
record Stage(Context context, PeerLibraries libraries, Sizes sizes) {
  /** Rounds to measure. */
  int rounds() {
    return context.rounds() > 0 ? context.rounds() : sizes.rounds();
  }

  /** The systems that can be measured on this machine. */
  List<PeerSystem> systems() {
    return Stream.of(PeerSystem.values())
        .filter(system -> libraries.missing(system).isEmpty())
        .toList();
  }

  Path newDirectory() {
    return context.children().temporaryDirectory(context.temporaryDirectory(), "erda-peers-");
  }

  void remove(Path directory) {
    context.children().removeNow(directory);
  }

  PeerProcess start(PeerSystem system, Path directory, Cell cell, boolean pipelined) {
    return PeerProcess.start(
        context.children(),
        context.jvm(),
        libraries,
        system,
        directory,
        cell.objects(),
        cell.valueBytes(),
        pipelined);
  }
}
