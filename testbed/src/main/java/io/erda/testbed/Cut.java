package io.erda.testbed;

import java.util.List;

/**
 * One power cut and its consequences.
 *
 * @param disk the file system
 * @param order the runs so far, as {@link DiskSession} names them
 * @param phase the state of the store as far as the host knew
 * @param powerClaimed whether the store had promised to survive this
 * @param problems violations, one line each; empty when there are none
 * @param lostKeys keys that lost an acknowledged version
 * @param opening the opening after the cut
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
   * @param inCleaning whether the opening found an interrupted cleaning
   * @param inDoubling whether it found an interrupted doubling
   */
  record Opening(boolean opened, boolean inCleaning, boolean inDoubling) {
    static final Opening FAILED = new Opening(false, false, false);

    /** An opening that found nothing interrupted. */
    static final Opening QUIET = new Opening(true, false, false);
  }

  /** The state of the store. */
  enum Phase {
    /** The first opening. */
    CREATION,
    /** An opening after a clean end. */
    OPENING,
    /** An opening after a kill or a cut. */
    RECOVERY,
    /** Clients put. */
    LOAD,
    /** {@code verify} checks the store. */
    VERIFY
  }

  boolean failed() {
    return !problems.isEmpty();
  }
}
