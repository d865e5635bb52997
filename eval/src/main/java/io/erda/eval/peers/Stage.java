package io.erda.eval.peers;

import io.erda.eval.Experiment.Context;
import io.erda.eval.peers.process.PeerLibraries;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Report;
import java.util.List;
import java.util.stream.Stream;

/**
 * The context that all measurements of one run share: directories for stores, and the available
 * systems.
 */
record Stage(Context context, PeerLibraries libraries, PeerSizes sizes) {
  /** Number of rounds. */
  int rounds() {
    return context.roundsOr(sizes.rounds(), sizes.rounds());
  }

  /** The systems that can be measured on this machine. */
  List<PeerSystem> systems() {
    return Stream.of(PeerSystem.values())
        .filter(system -> system.isStore() && libraries.missing(system).isEmpty())
        .toList();
  }

  /** The name of a system in tables. */
  String title(PeerSystem system) {
    return libraries.title(system);
  }

  /** An empty report of this run. */
  Report report() {
    return context.report().given("rounds", rounds());
  }

  /** Adds why the other systems are left out. */
  void addLeftOut(Report report) {
    for (PeerSystem system : PeerSystem.values()) {
      libraries
          .missing(system)
          .ifPresent(why -> report.words("left out: " + system.title() + ": " + why));
    }
  }
}
