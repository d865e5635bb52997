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

  /** The systems that one thread uses, and that can be measured on this machine. */
  List<PeerSystem> systems() {
    return available(
        Stream.of(PeerSystem.values())
            .filter(system -> system.isStore() && !system.isForThreads())
            .toList());
  }

  /** The systems of a list that can be measured on this machine. */
  List<PeerSystem> available(List<PeerSystem> systems) {
    return systems.stream().filter(system -> libraries.missing(system).isEmpty()).toList();
  }

  /** The name of a system in tables. */
  String title(PeerSystem system) {
    return libraries.title(system);
  }

  /** An empty report of this run. */
  Report report() {
    return context.report().given("rounds", rounds());
  }

  /** Adds why the other systems that one thread uses are left out. */
  void addLeftOut(Report report) {
    addLeftOut(
        report, Stream.of(PeerSystem.values()).filter(system -> !system.isForThreads()).toList());
  }

  /** Adds why some systems are left out, if they are. */
  void addLeftOut(Report report, List<PeerSystem> systems) {
    for (PeerSystem system : systems) {
      libraries
          .missing(system)
          .ifPresent(why -> report.words("left out: " + system.title() + ": " + why));
    }
  }
}
