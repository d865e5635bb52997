package io.erda.eval.peers;

import io.erda.eval.peers.process.PeerSystem;
import io.erda.eval.process.ProcessException;
import io.erda.eval.report.Report;
import java.util.EnumMap;
import java.util.Map;

/**
 * What the puts of each system survive: by what it says, and by what is left of a store whose
 * processes are killed just after its last put. That says nothing of a power failure, and nothing
 * of a kill in the middle of a put. One thread.
 */
final class Survival {
  private final Map<PeerSystem, String> promised = new EnumMap<>(PeerSystem.class);
  private final Map<PeerSystem, String> lost = new EnumMap<>(PeerSystem.class);

  /** Kills the processes of a store, and looks what is there. */
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
   * @param says what a put survives
   * @param missing what was not there after a kill; empty when all was
   */
  void add(PeerSystem system, String says, String missing) {
    promised.put(system, says);
    lost.put(system, missing);
  }

  /** What a put survives by what its store says. */
  String promised(PeerSystem system) {
    return promised.get(system);
  }

  /** The same, unless a kill has shown that it is less. */
  String shown(PeerSystem system) {
    return lost(system).isEmpty() ? promised(system) : "not a kill -9";
  }

  /** What was not there after a kill; empty when all was. */
  String lost(PeerSystem system) {
    return lost.get(system);
  }

  /** Erda must lose nothing. */
  void judge(Report report) {
    lost.forEach((system, missing) -> {
      if (system.isErda() && !missing.isEmpty()) {
        report.miss(system.title() + " lost puts in a kill: " + missing);
      }
    });
  }
}
