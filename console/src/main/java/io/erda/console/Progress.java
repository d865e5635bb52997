package io.erda.console;

/**
 * Shows the progress of a long measurement: one line that is overwritten on a terminal, otherwise
 * nothing or a line for each step.
 */
public interface Progress {
  /** A new step begins. */
  void step(String what);

  /** The progress of the step, in words. */
  void at(String how);

  /**
   * The step is over.
   *
   * @param how it ended, in words; may be empty
   */
  void done(String how);
}
