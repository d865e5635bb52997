package io.erda.simulation.history;

/** The result of the check of a history. */
public sealed interface Verdict {
  /** Every key's operations can be put into one order that explains all results. */
  record Linearizable(int operations, int keys) implements Verdict {}

  /**
   * No order explains a key's operations.
   *
   * @param report for people: the operations of the shortest window that show it
   */
  record Violation(long key, String report) implements Verdict {}

  /**
   * The checker's memory did not suffice for a key with too many concurrent operations. Neither
   * correct nor a violation.
   */
  record Undecided(long key, String reason) implements Verdict {}
}
