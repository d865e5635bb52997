package io.erda.rdma;

/** Flags of posted work, to be or-ed. */
public final class Flags {
  public static final int NONE = 0;

  /** Reports a completion on success, too. Without this flag only failures are reported. */
  public static final int SIGNALED = 1;

  /**
   * Makes the work start only after all earlier READs, FLUSHes and atomic operations of this queue
   * pair have completed.
   */
  public static final int FENCE = 2;

  private Flags() {}
}
