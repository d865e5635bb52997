package io.erda.verbs.ffm;

import io.erda.pmem.libc.Libc;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A second mapping of shared memory, at an address that this process has not used for a long time:
 * a multiple of 128 KiB below 2^47. The creator owns it; the original mapping may be removed after
 * this was made.
 */
public final class Alias {
  /** The address is a multiple of 2 to the power of this. */
  public static final int UNIT_BITS = 17;

  private static final long PAGE_MASK = 4095;
  private static final long LOWEST = 1L << 44;
  private static final long ADDRESSES = 1L << 46;
  private static final int TRIES = 100;

  /**
   * The address that the next alias gets. The first address is random, so that keys of an earlier
   * process name other addresses.
   */
  private static final AtomicLong NEXT =
      new AtomicLong(new SecureRandom().nextLong(ADDRESSES >>> UNIT_BITS));

  private final long address;
  private final long bytes;

  private Alias(long address, long bytes) {
    this.address = address;
    this.bytes = bytes;
  }

  /**
   * Maps some memory again.
   *
   * @throws IOException when it does not begin with a page, or is not shared
   */
  public static Alias of(MemorySegment memory) throws IOException {
    long from = memory.address();
    long bytes = memory.byteSize();
    if ((from & PAGE_MASK) != 0) {
      throw new IOException("memory for on-demand paging has to begin with a page");
    }
    long mapped = bytes + PAGE_MASK & ~PAGE_MASK;
    for (int i = 0; i < TRIES; i++) {
      long address = take(mapped);
      if (reserve(address, mapped)) {
        long again = Libc.mapAgain(from, address, mapped);
        if (again != address) {
          Libc.unmap(address, mapped);
          throw Foreign.failed("mremap", (int) -again);
        }
        return new Alias(address, bytes);
      }
    }
    throw new IOException("there is no room in this process's addresses");
  }

  /** Reserves addresses; false when some of them are taken. */
  private static boolean reserve(long address, long bytes) {
    int flags =
        Libc.MAP_PRIVATE | Libc.MAP_ANONYMOUS | Libc.MAP_NORESERVE | Libc.MAP_FIXED_NOREPLACE;
    long mapped = Libc.map(address, bytes, Libc.PROT_NONE, flags, -1);
    if (mapped >= 0 && mapped != address) {
      // A kernel that does not know the flag uses the address only as a hint.
      Libc.unmap(mapped, bytes);
    }
    return mapped == address;
  }

  /** Takes the next range of addresses, which is followed by a gap. */
  private static long take(long bytes) {
    long units = (bytes >>> UNIT_BITS) + 2;
    long unit = NEXT.getAndAdd(units);
    return LOWEST + (unit << UNIT_BITS & ADDRESSES - 1);
  }

  public long address() {
    return address;
  }

  public long bytes() {
    return bytes;
  }

  /** Unmaps it. REQUIRES: no memory is registered there. */
  public void close() {
    Libc.unmap(address, bytes + PAGE_MASK & ~PAGE_MASK);
  }
}
