package io.erda.rdma;

/** The permitted uses of a memory region, to be or-ed. */
public final class Access {
  /** Local use only: sources of WRITE and SEND, destinations of READ and RECEIVE. */
  public static final int LOCAL = 0;

  public static final int REMOTE_READ = 1;
  public static final int REMOTE_WRITE = 2;
  public static final int REMOTE_ATOMIC = 4;

  private Access() {}
}
