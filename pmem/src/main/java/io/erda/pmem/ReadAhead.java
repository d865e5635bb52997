package io.erda.pmem;

import io.erda.pmem.libc.Libc;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Whether the kernel reads pages of mapped files ahead. It does by default: a page that is missing
 * brings its neighbours along, by the megabyte on some systems. While there is room, that fills
 * memory quickly with pages that are needed soon. Where the files are larger than memory, such
 * neighbours displace pages that are needed, and a get reads thousands of pages instead of one
 * (docs/decisions, "A store larger than memory"). So as soon as the mappings do not fit into
 * memory, each missing page is read alone.
 *
 * <p>Any thread may call any method.
 */
public final class ReadAhead {
  /**
   * The share of memory that mappings may fill while pages are read ahead. JVMs and other programs
   * need the rest, and reading ahead does harm before memory is full.
   */
  private static final double SHARE_OF_MEMORY = 0.5;

  /** Mappings of this size fit into any memory, so they need no look at the size of memory. */
  private static final long SMALL_BYTES = 64L << 20;

  private static final long PAGE_BYTES = 4096;
  private static final long PIECE_BYTES = 128 << 10;

  private final long smallBytes;
  private final LongSupplier bytesMax;
  private final Set<Mapping> mappings = ConcurrentHashMap.newKeySet();
  private final AtomicLong bytes = new AtomicLong();

  /** The value of {@link #bytesMax}; 0 before it was read. Used under the lock of this object. */
  private long max;

  /** Whether pages are read alone; changed only under the lock of this object. */
  private volatile boolean alone;

  /** A file that is mapped, or a part of one. */
  public interface Mapping {
    MemorySegment memory();

    /** Makes the kernel read missing pages of this mapping alone, or as it does by default. */
    default void readAlone(boolean alone) {
      advise(memory(), alone);
    }
  }

  /** Makes an instance whose mappings share the memory that this process can have. */
  public ReadAhead() {
    this(SMALL_BYTES, () -> (long) (AvailableMemory.bytes() * SHARE_OF_MEMORY));
  }

  /**
   * @param bytesMax total length of the mappings that fit into memory together
   */
  public ReadAhead(long bytesMax) {
    this(0, () -> bytesMax);
  }

  private ReadAhead(long smallBytes, LongSupplier bytesMax) {
    this.smallBytes = smallBytes;
    this.bytesMax = bytesMax;
  }

  /** Adds a mapping, until {@link #unmapped}. */
  public void mapped(Mapping mapping) {
    mappings.add(mapping);
    bytes.addAndGet(mapping.memory().byteSize());
    settle(mapping);
  }

  /**
   * Removes a mapping. If there is room again, the next {@link #mapped} turns reading ahead on.
   * This call does not, because its caller may hold the mapping's lock.
   */
  public void unmapped(Mapping mapping) {
    if (mappings.remove(mapping)) {
      bytes.addAndGet(-mapping.memory().byteSize());
    }
  }

  /** Whether pages are read alone now. */
  public boolean isAlone() {
    return alone;
  }

  private synchronized void settle(Mapping newest) {
    long mapped = bytes.get();
    boolean now = mapped > smallBytes && mapped > max();
    if (now != alone) {
      alone = now;
      mappings.forEach(each -> each.readAlone(now));
    } else if (now) {
      newest.readAlone(true);
    }
  }

  private long max() {
    if (max == 0) {
      max = bytesMax.getAsLong();
    }
    return max;
  }

  /**
   * Called before a range is loaded. When pages are read alone and the range has several, the
   * missing ones are read at the same time. Allocates nothing.
   */
  public void loading(MemorySegment memory, long offset, long length) {
    long from = memory.address() + offset & -PAGE_BYTES;
    if (alone && memory.address() + offset + length - from > PAGE_BYTES) {
      tell(memory, offset, length);
    }
  }

  /**
   * Called when a range will be loaded soon, after the ranges of earlier calls. Allocates nothing.
   */
  public void loadingSoon(MemorySegment memory, long offset, long length) {
    if (alone) {
      tell(memory, offset, length);
    }
  }

  /** Tells the kernel piece by piece, because it may read only the beginning of a longer range. */
  private static void tell(MemorySegment memory, long offset, long length) {
    assert offset >= 0 && length <= memory.byteSize() - offset
        : length + " bytes at " + offset + " of " + memory;
    long end = memory.address() + offset + length;
    for (long from = memory.address() + offset & -PAGE_BYTES; from < end; from += PIECE_BYTES) {
      Libc.willNeed(from, Math.min(PIECE_BYTES, end - from));
    }
  }

  /** Tells the kernel, which may ignore it. */
  static void advise(MemorySegment memory, boolean alone) {
    Libc.advise(memory.address(), memory.byteSize(), alone);
  }
}
