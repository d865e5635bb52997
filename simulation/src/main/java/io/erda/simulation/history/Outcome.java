package io.erda.simulation.history;

/** How an operation ended, as far as its client knows. */
public enum Outcome {
  /**
   * Nothing: it may have taken effect, may still do so until it returned, or never. What a dead
   * client leaves never returns.
   */
  UNKNOWN,
  /** Done, with the recorded result. */
  OK,
  /** Definitely not done, now and for ever. */
  FAILED
}
