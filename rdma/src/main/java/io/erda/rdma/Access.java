package io.erda.rdma;

/** The permitted uses of a memory region, as flags that can be combined by {@code |}. */
public final class Access {
  /**
   * Only for local use: as the source of a WRITE or SEND, or the destination of a READ or RECEIVE.
   */
  public static final int LOCAL = 0;

  public static final int REMOTE_READ = 1;
  public static final int REMOTE_WRITE = 2;
  public static final int REMOTE_ATOMIC = 4;

  private Access() {}
}
