package io.erda.eval.baselines;

/** What a server notes down of itself while it is measured, which slows it down. */
public enum Counting {
  NOTHING,

  /** What it stores, byte for byte. */
  BYTES,

  /** How long the steps took that had something to do: its processor time apart from polling. */
  WORK
}
