package io.erda.simulation;

import java.util.ArrayList;
import java.util.List;

/**
 * Stores that land later than anybody expects: their poster was stopped in the middle of them, its
 * connection is closed, or the process that they are for has died.
 */
final class LateStores {
  private static final int STOPPED_ODDS = 256;
  private static final int STOPPED_ODDS_OFTEN = 32;

  /** Stores that go on though nobody waits for them any more. */
  private final List<PostedWork> begun = new ArrayList<>();

  private int stoppedOdds = STOPPED_ODDS;
  private long unfenced;

  /** Posters are stopped in the middle of a store more often from now on. */
  void often() {
    stoppedOdds = STOPPED_ODDS_OFTEN;
  }

  /** The poster is stopped in the middle of one store in so many, where it stores itself. */
  int stoppedOdds() {
    return stoppedOdds;
  }

  /** A store goes on, and nobody waits for it. */
  void goesOn(PostedWork work) {
    assert work.isStore() && work.region != null : "only what has begun to store goes on";
    begun.add(work);
  }

  /** A store landed, or went on, after the responder's process had died. */
  void countUnfenced() {
    unfenced++;
  }

  long unfenced() {
    return unfenced;
  }

  /** How many go on into files of these disks. */
  int count(List<SimulatedDisk> disks) {
    begun.removeIf(work -> work.isMoved() || work.isStopped());
    int count = 0;
    for (PostedWork work : begun) {
      count += work.region.isOn(disks) ? 1 : 0;
    }
    return count;
  }

  /** The power of the host with these disks fails, and who stores there fails with it. */
  void stop(List<SimulatedDisk> disks) {
    for (PostedWork work : begun) {
      if (work.region.isOn(disks)) {
        work.stop();
      }
    }
  }
}
