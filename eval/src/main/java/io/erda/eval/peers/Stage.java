package io.erda.eval.peers;

import io.erda.eval.Experiment.Context;
import io.erda.eval.peers.process.PeerLibraries;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Report;
import java.util.List;
import java.util.stream.Stream;

/** What all measurements of one run share: where stores go, and which systems there are. */
record Stage(Context context, PeerLibraries libraries, Sizes sizes) {
  /** Rounds to measure. */
  int rounds() {
    return context.roundsOr(sizes.rounds(), sizes.rounds());
  }

  /** The systems that can be measured on this machine. */
  List<PeerSystem> systems() {
    return Stream.of(PeerSystem.values())
        .filter(system -> system.isStore() && libraries.missing(system).isEmpty())
        .toList();
  }

  /** What a system is called in tables. */
  String title(PeerSystem system) {
    return libraries.title(system);
  }

  /** An empty report of this run. */
  Report report() {
    return context.report().given("rounds", rounds());
  }

  /** Says why the others are not. */
  void addLeftOut(Report report) {
    for (PeerSystem system : PeerSystem.values()) {
      libraries
          .missing(system)
          .ifPresent(why -> report.words("left out: " + system.title() + ": " + why));
    }
  }
}
