package io.erda.rdma;

/** Flags of posted work, to be or-ed. */
public final class Flags {
  public static final int NONE = 0;

  /** Report a completion on success too; without it only failures are reported. */
  public static final int SIGNALED = 1;

  /** Start only after all earlier READs, FLUSHes and atomics of this queue pair have completed. */
  public static final int FENCE = 2;

  private Flags() {}
}
