package io.erda.cleaner;

/** The phases of one cleaning, in order. */
public enum Phase {
  /** No region is being cleaned. */
  IDLE,
  /**
   * No more space of the victim is leased. Its writers finish, or their leases are ended after a
   * while.
   */
  WRITERS,
  /** A sweep over the table finds the places of the victim that words name. */
  MARK,
  /** The space that copies of the objects at those places need is measured. */
  MEASURE,
  /**
   * Objects that were live when the cleaning began are copied, and words are changed to name the
   * copies.
   */
  MERGE,
  /** Objects that a further sweep still finds are copied the same way, until a sweep finds none. */
  REPLICATE
}
