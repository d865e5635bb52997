package io.erda.verbs.ffm;

/**
 * What a device offers that DiSNI has no words for, as far as the kernel, the driver and rdma-core
 * all know it.
 *
 * @param flushes FLUSH to where all others see it
 * @param persists FLUSH to where it survives a power failure
 * @param writesWords ATOMIC_WRITE
 */
public record Offered(boolean flushes, boolean persists, boolean writesWords) {
  public static final Offered NOTHING = new Offered(false, false, false);

  /** What a region and a queue pair allow to the peer: {@code IBV_ACCESS_FLUSH_…}. */
  public static final int ACCESS_FLUSH_GLOBAL = 1 << 8;

  public static final int ACCESS_FLUSH_PERSISTENT = 1 << 9;

  /** What a FLUSH asks for: {@code enum ibv_placement_type}. */
  public static final int FLUSH_GLOBAL = 1;

  public static final int FLUSH_PERSISTENT = 2;

  private static final long DEVICE_FLUSH_GLOBAL = 1L << 38;
  private static final long DEVICE_FLUSH_PERSISTENT = 1L << 39;
  private static final long DEVICE_ATOMIC_WRITE = 1L << 40;
  private static final int WITH_FLUSH = 1 << 11;
  private static final int WITH_ATOMIC_WRITE = 1 << 12;

  /** What {@code device_cap_flags_ex} of a device says. */
  static Offered of(long flags) {
    boolean flushes = (flags & DEVICE_FLUSH_GLOBAL) != 0;
    boolean persists = flushes && (flags & DEVICE_FLUSH_PERSISTENT) != 0;
    return new Offered(flushes, persists, (flags & DEVICE_ATOMIC_WRITE) != 0);
  }

  /** Returns what is left where a queue pair can't be made with FLUSH. */
  Offered withoutFlush() {
    return new Offered(false, false, writesWords);
  }

  /** {@code send_ops_flags} of a queue pair that has all of it; 0 for nothing. */
  int operations() {
    return (flushes ? WITH_FLUSH : 0) | (writesWords ? WITH_ATOMIC_WRITE : 0);
  }

  /** What a queue pair allows to the peer besides the rest. */
  public int access() {
    return (flushes ? ACCESS_FLUSH_GLOBAL : 0) | (persists ? ACCESS_FLUSH_PERSISTENT : 0);
  }
}
