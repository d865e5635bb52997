package io.erda.eval.peers;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.erda.eval.Experiment.Context;
import io.erda.eval.peers.process.PeerLibraries;
import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.report.Words;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** What all measurements of one run share: where stores go, and which systems there are. */
record Stage(Context context, PeerLibraries libraries, Sizes sizes) {
  /** Rounds to measure. */
  int rounds() {
    return context.rounds() > 0 ? context.rounds() : sizes.rounds();
  }

  /**
   * Whether goals are met or missed. They are goals of stores of full size in a steady state, so a
   * quick run shows its ratios and does not judge them.
   */
  boolean isJudged() {
    return !context.quick();
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

  /** What every report's JSON begins with. */
  ObjectNode json() {
    return new ObjectMapper()
        .createObjectNode()
        .put("quick", context.quick())
        .put("rounds", rounds());
  }

  /** Adds a system to those of a report's JSON. */
  ObjectNode json(ArrayNode systems, PeerSystem system) {
    return systems
        .addObject()
        .put("name", system.name().toLowerCase(Locale.ROOT))
        .put("title", title(system));
  }

  /** Why the others are not, one of them each. */
  List<Words> leftOut() {
    List<Words> leftOut = new ArrayList<>();
    for (PeerSystem system : PeerSystem.values()) {
      libraries
          .missing(system)
          .ifPresent(why -> leftOut.add(new Words("left out: " + system.title() + ": " + why)));
    }
    return leftOut;
  }
}
