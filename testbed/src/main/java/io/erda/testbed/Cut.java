package io.erda.testbed;

import java.util.List;

/**
 * One cut of the power and what came of it.
 *
 * @param disk the file system
 * @param order the runs so far, as {@link Session} names them
 * @param phase what the store was doing as far as the host knew
 * @param powerClaimed whether the store had promised to survive this
 * @param problems what was wrong, one line each; empty when all was as promised
 * @param lostKeys keys of which something acknowledged was lost
 * @param opening what came of the opening after it
 */
record Cut(
    Disk.Kind disk,
    String order,
    Phase phase,
    boolean powerClaimed,
    List<String> problems,
    int lostKeys,
    Opening opening) {
  /**
   * An opening of the store.
   *
   * @param opened whether the store opened
   * @param inCleaning whether the opening found a cleaning to go on with
   * @param inDoubling whether it found a doubling to go on with
   */
  record Opening(boolean opened, boolean inCleaning, boolean inDoubling) {
    static final Opening FAILED = new Opening(false, false, false);

    /** Nothing had been interrupted. */
    static final Opening QUIET = new Opening(true, false, false);
  }

  /** What the store was doing. */
  enum Phase {
    /** The first opening. */
    CREATION,
    /** An opening after a clean end. */
    OPENING,
    /** An opening after a kill or a cut. */
    RECOVERY,
    /** Clients put. */
    LOAD,
    /** {@code verify} looks at it. */
    VERIFY
  }

  boolean failed() {
    return !problems.isEmpty();
  }
}
