package io.erda.cleaner;

/** The phases of one cleaning, in order. */
public enum Phase {
  /** Nothing is cleaned. */
  IDLE,
  /** No space of the victim is leased any more. Its writers finish, or are ended after a while. */
  WRITERS,
  /** A sweep over the table finds the places of the victim that words name. */
  MARK,
  /** The objects at those places are measured: how much space their copies take. */
  MEASURE,
  /**
   * Objects that were live when the cleaning began are copied, and words are changed to name the
   * copies.
   */
  MERGE,
  /** Objects that a further sweep still finds are copied the same way, until a sweep finds none. */
  REPLICATE
}
