package io.erda.verbs.ffm;

/**
 * The abilities of a device that DiSNI lacks, as far as the kernel, the driver and rdma-core all
 * know them.
 *
 * @param flushes FLUSH that makes stores visible to all
 * @param persists FLUSH that makes stores survive a power failure
 * @param writesWords ATOMIC_WRITE
 */
public record Offered(boolean flushes, boolean persists, boolean writesWords) {
  public static final Offered NOTHING = new Offered(false, false, false);

  /** The rights of the peer at a region and a queue pair: {@code IBV_ACCESS_FLUSH_…}. */
  public static final int ACCESS_FLUSH_GLOBAL = 1 << 8;

  public static final int ACCESS_FLUSH_PERSISTENT = 1 << 9;

  /** The types of a FLUSH: {@code enum ibv_placement_type}. */
  public static final int FLUSH_GLOBAL = 1;

  public static final int FLUSH_PERSISTENT = 2;

  private static final long DEVICE_FLUSH_GLOBAL = 1L << 38;
  private static final long DEVICE_FLUSH_PERSISTENT = 1L << 39;
  private static final long DEVICE_ATOMIC_WRITE = 1L << 40;
  private static final int WITH_FLUSH = 1 << 11;
  private static final int WITH_ATOMIC_WRITE = 1 << 12;

  /** Reads {@code device_cap_flags_ex} of a device. */
  static Offered of(long flags) {
    boolean flushes = (flags & DEVICE_FLUSH_GLOBAL) != 0;
    boolean persists = flushes && (flags & DEVICE_FLUSH_PERSISTENT) != 0;
    return new Offered(flushes, persists, (flags & DEVICE_ATOMIC_WRITE) != 0);
  }

  /** The rest where a queue pair can't be made with FLUSH. */
  Offered withoutFlush() {
    return new Offered(false, false, writesWords);
  }

  /** {@code send_ops_flags} of a queue pair with these abilities; 0 for none. */
  int operations() {
    return (flushes ? WITH_FLUSH : 0) | (writesWords ? WITH_ATOMIC_WRITE : 0);
  }

  /** The rights of the peer to FLUSH, for a queue pair. */
  public int access() {
    return (flushes ? ACCESS_FLUSH_GLOBAL : 0) | (persists ? ACCESS_FLUSH_PERSISTENT : 0);
  }
}
