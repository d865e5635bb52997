package io.erda.eval.peers;

import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.process.ProcessException;
import io.erda.eval.report.Report;
import java.util.EnumMap;
import java.util.Map;

/**
 * The failures that the puts of each system survive: according to the system, and according to a
 * test in which the processes of a store are killed just after its last put. That tests neither a
 * power failure nor a kill in the middle of a put. One thread.
 */
final class Survival {
  private final Map<PeerSystem, String> promised = new EnumMap<>(PeerSystem.class);
  private final Map<PeerSystem, String> lost = new EnumMap<>(PeerSystem.class);

  /** Kills the processes of a store, and checks its objects. */
  void killAndLook(PeerSystem system, MeasuredPeer peer) {
    String durability = peer.process().durability();
    peer.process().close();
    add(system, durability, system.isStore() ? lost(peer) : "");
  }

  private static String lost(MeasuredPeer peer) {
    try {
      peer.startAgain();
      peer.process().verify();
      return "";
    } catch (ProcessException e) {
      return e.getMessage();
    }
  }

  /**
   * Adds a system.
   *
   * @param says the failures that a put survives, according to the system
   * @param missing the puts that were lost after a kill; empty when none was
   */
  void add(PeerSystem system, String says, String missing) {
    promised.put(system, says);
    lost.put(system, missing);
  }

  /** Returns the failures that a put survives according to the system. */
  String promised(PeerSystem system) {
    return promised.get(system);
  }

  /**
   * Returns the failures that a put survives according to the system, unless a kill has shown that
   * it survives less.
   */
  String shown(PeerSystem system) {
    return lost(system).isEmpty() ? promised(system) : "not a kill -9";
  }

  /** Returns the puts that were lost after a kill; empty when none was. */
  String lost(PeerSystem system) {
    return lost.get(system);
  }

  /** Checks the goal that Erda loses nothing. */
  void judge(Report report) {
    lost.forEach((system, missing) -> {
      if (system.isErda() && !missing.isEmpty()) {
        report.miss(system.title() + " lost puts in a kill: " + missing);
      }
    });
  }
}
