package io.erda.eval.baselines;

/** The measurements that a server makes about itself, which slow it down. */
public enum Counting {
  NOTHING,

  /** The bytes that it stores. */
  BYTES,

  /** The time of steps that had something to do: its processor time apart from polling. */
  WORK
}
