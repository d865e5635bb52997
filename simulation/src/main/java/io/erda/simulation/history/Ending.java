package io.erda.simulation.history;

/** How an operation ended, as far as its client knows. */
public enum Ending {
  /**
   * Unknown: the operation may have taken effect, may still do so until it returned, or never.
   * Operations of a dead client never return.
   */
  UNKNOWN,
  /** Done, with the recorded result. */
  OK,
  /** Definitely not done, now and for ever. */
  FAILED
}
