package io.erda.cleaner;

/** The phases of one cleaning, in order. */
public enum Phase {
  /** Nothing is cleaned. */
  IDLE,
  /** Nothing more is handed out in the victim. Its writers finish, or are ended after a while. */
  WRITERS,
  /** A sweep over the table finds the places of the victim that words name. */
  MARK,
  /** The objects at those places are measured: how much space their copies take. */
  MEASURE,
  /** What was live when the cleaning began is copied, and words are changed to name the copies. */
  MERGE,
  /** What a further sweep still finds is copied the same way, until one finds nothing. */
  REPLICATE
}
