package io.erda.eval.baselines;

/** What a server measures about itself, which slows it down. */
public enum Counting {
  NOTHING,

  /** The bytes that it stores. */
  BYTES,

  /** The time of steps that had something to do: its processor time apart from polling. */
  WORK
}
