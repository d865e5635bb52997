package io.erda.cleaner;

/** Of one cleaning, in order. */
public enum Phase {
  /** Nothing is cleaned. */
  IDLE,
  /** Nothing more is handed out in the victim; its writers end, or are ended. */
  WRITERS,
  /** A sweep over the table finds the places of the victim that words name. */
  MARK,
  /** How much space their copies take. */
  MEASURE,
  /** They are copied and the words changed: what was live when the cleaning began. */
  MERGE,
  /** The same for what a further sweep still finds, until one finds nothing. */
  REPLICATE
}
