package io.erda.console;

/**
 * Is told how a long measurement goes; one line that is written over on a terminal, nothing or a
 * line each elsewhere.
 */
public interface Progress {
  /** A new step begins. */
  void step(String what);

  /** How far the step is, in words. */
  void at(String how);

  /**
   * The step is over.
   *
   * @param how it ended, in words; may be empty
   */
  void done(String how);
}
