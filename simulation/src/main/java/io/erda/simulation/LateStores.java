package io.erda.simulation;

import java.util.ArrayList;
import java.util.List;

/**
 * Stores that land unexpectedly late: their poster was stopped in the middle of them, its
 * connection is closed, or the responder's process has died.
 */
final class LateStores {
  private static final int STOPPED_ODDS = 256;
  private static final int STOPPED_ODDS_OFTEN = 32;

  /** Stores that go on although no completion is awaited any more. */
  private final List<PostedWork> begun = new ArrayList<>();

  private int stoppedOdds = STOPPED_ODDS;
  private long unfenced;

  /** Makes posters stop in the middle of a store more often. */
  void often() {
    stoppedOdds = STOPPED_ODDS_OFTEN;
  }

  /** One in so many stores that a poster does itself is interrupted by a stop. */
  int stoppedOdds() {
    return stoppedOdds;
  }

  /** Notes that a store goes on although its completion is not awaited. */
  void goesOn(PostedWork work) {
    assert work.isStore() && work.region != null : "only what has begun to store goes on";
    begun.add(work);
  }

  /** Counts a store that landed, or went on, after the responder's process had died. */
  void countUnfenced() {
    unfenced++;
  }

  long unfenced() {
    return unfenced;
  }

  /** Number of such stores into files of these disks. */
  int count(List<SimulatedDisk> disks) {
    begun.removeIf(work -> work.isMoved() || work.isStopped());
    int count = 0;
    for (PostedWork work : begun) {
      count += work.region.isOn(disks) ? 1 : 0;
    }
    return count;
  }

  /** Stops the stores into these disks, because the host's power fails, and that of its posters. */
  void stop(List<SimulatedDisk> disks) {
    for (PostedWork work : begun) {
      if (work.region.isOn(disks)) {
        work.stop();
      }
    }
  }
}
