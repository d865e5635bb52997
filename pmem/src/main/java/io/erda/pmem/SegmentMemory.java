package io.erda.pmem;

import io.erda.pmem.libc.Libc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Objects;

/**
 * Memory that the processor stores to. A subclass implements flush and drain as its promise
 * requires.
 *
 * <p>Owns its arena: closing it makes the segment invalid for every thread and returns when no
 * access is under way.
 */
abstract class SegmentMemory implements PersistentMemory, ReadAhead.Mapping {
  static final VarHandle LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  private static final MemoryGuard.Access<SegmentMemory, MemorySegment> COPY =
      (to, from, fromOffset, offset, length, _) -> {
        WordCopy.copy(from, fromOffset, to.segment, offset, length);
        return 0;
      };

  private static final MemoryGuard.Access<SegmentMemory, MemorySegment> RELEASE =
      (to, _, value, offset, _, _) -> {
        LONG.setRelease(to.segment, offset, value);
        return 0;
      };

  private static final int NO = 0;
  private static final int YES = 1;

  private static final MemoryGuard.Access<SegmentMemory, MemorySegment> SWAP =
      (to, _, offset, expected, value, _) ->
          LONG.compareAndSet(to.segment, offset, expected, value) ? YES : NO;

  private static final MemoryGuard.Access<SegmentMemory, MemorySegment> LOAD =
      (from, _, offset, _, _, _) -> (long) LONG.getVolatile(from.segment, offset) == 0 ? YES : NO;

  private static final long PAGE_BYTES = 4096;

  /**
   * The swaps of a memory whose page is first made writable by the kernel. The interpreter's
   * compare-and-swap ends the process where memory is missing. A compiled one is passed over like a
   * store, and after so many calls it is compiled, unless the JVM compiles nothing.
   */
  private static final int SWAPS_CHECKED =
      System.getProperty("java.vm.info", "").contains("interpreted") ? Integer.MAX_VALUE : 50_000;

  /** How often a store that failed is repeated while its pages can be stored to. */
  private static final int STORES_AGAIN = 3;

  private final MemoryGuard faults = new MemoryGuard();
  private final MemorySegment segment;
  private final Arena arena;
  private volatile Backing backing;
  private Runnable onClose = () -> {};
  private volatile boolean alone;

  /** Counts swaps up to {@link #SWAPS_CHECKED}; races may lose some counts. */
  private int swapsChecked;

  SegmentMemory(MemorySegment segment, Arena arena, Backing backing) {
    assert (segment.address() & 7) == 0
            && (backing == null || backing.length() == segment.byteSize())
        : segment + " for a " + backing;
    this.segment = segment;
    this.arena = arena;
    this.backing = backing;
  }

  @Override
  public final MemorySegment segment() {
    return segment;
  }

  @Override
  public final MemorySegment memory() {
    return segment;
  }

  /**
   * {@inheritDoc} A fault of the store is thrown by this call, so that a thread stores nothing
   * after a store that failed.
   */
  @Override
  public final void put(long offset, MemorySegment source, long sourceOffset, long length) {
    // A pending fault of an earlier load or store is thrown here, before this store begins.
    faults.surface();
    if (faults.access(COPY, this, source, sourceOffset, offset, length, 0) == MemoryGuard.FAULT) {
      storeAgain(COPY, source, sourceOffset, offset, length);
    }
    assert isDisjoint(source, sourceOffset, offset, length)
        : length + " bytes are put from " + sourceOffset + " of " + source + " over themselves";
  }

  private boolean isDisjoint(MemorySegment source, long sourceOffset, long offset, long length) {
    long distance = source.address() + sourceOffset - segment.address() - offset;
    return !source.isNative() || Math.abs(distance) >= length;
  }

  /** {@inheritDoc} As {@link #put}. */
  @Override
  public final void putLongRelease(long offset, long value) {
    faults.surface();
    if (faults.access(RELEASE, this, null, value, offset, 0, 0) == MemoryGuard.FAULT) {
      storeAgain(RELEASE, null, value, offset, Long.BYTES);
    }
  }

  /** {@inheritDoc} As {@link #put}. */
  @Override
  public final boolean compareAndSetLong(long offset, long expected, long value) {
    faults.surface();
    if (swapsChecked < SWAPS_CHECKED) {
      swapsChecked++;
      requirePage(offset);
    }
    int swapped = faults.access(SWAP, this, null, offset, expected, value, 0);
    for (int i = 0; i < STORES_AGAIN && swapped == MemoryGuard.FAULT; i++) {
      requireStorable(offset, Long.BYTES, faults.fault());
      swapped = faults.access(SWAP, this, null, offset, expected, value, 0);
    }
    if (swapped == MemoryGuard.FAULT) {
      throw faults.fault();
    }
    return swapped == YES;
  }

  /** Has the kernel make the page of a word writable, and throws when it can't. */
  private void requirePage(long offset) {
    Backing file = backing;
    if (file != null
        && file.file() != null
        && MappedFault.look(segment, offset, Long.BYTES) == MappedFault.Page.LOST) {
      int loaded = faults.access(LOAD, this, null, offset, 0, 0, 0);
      requireStorable(offset, Long.BYTES, loaded == MemoryGuard.FAULT ? faults.fault() : null);
    }
  }

  /** Repeats a store that met a fault, as long as its pages can be stored to now. */
  private void storeAgain(
      MemoryGuard.Access<SegmentMemory, MemorySegment> store,
      MemorySegment from,
      long source,
      long offset,
      long length) {
    for (int i = 0; i < STORES_AGAIN; i++) {
      requireStorable(offset, length, faults.fault());
      if (faults.access(store, this, from, source, offset, length, 0) != MemoryGuard.FAULT) {
        return;
      }
    }
    // The pages of this memory can be stored to, so the fault was in the source of the bytes.
    throw faults.fault();
  }

  private void requireStorable(long offset, long length, MemoryFault fault) {
    Backing file = backing;
    if (fault != null && (file == null || file.file() == null || MappedFault.isShortened(file))) {
      throw fault;
    }
    if (MappedFault.look(segment, offset, length) != MappedFault.Page.STORABLE) {
      Path directory =
          file.directory() == null
              ? file.file().toAbsolutePath().getParent()
              : file.directory().at(".");
      FailedStoreException failure =
          MappedFault.ofStore(file.file(), directory, segment, offset, length);
      if (fault != null) {
        failure.addSuppressed(fault);
      }
      throw failure;
    }
  }

  @Override
  public void flush(long offset, long length) {
    Objects.checkFromIndexSize(offset, length, segment.byteSize());
  }

  /**
   * Keeps the order of stores, and does no more: the processor makes stores in the order of the
   * compiled code, and a kill of the process does not undo them. A release fence costs no
   * instruction on x86.
   */
  @Override
  public void drain() {
    VarHandle.releaseFence();
  }

  /** Holds the lock of {@link #close}, as {@link #populate} does. */
  @Override
  public final synchronized void readAlone(boolean wanted) {
    if (arena.scope().isAlive()) {
      ReadAhead.advise(segment, wanted);
      alone = wanted;
    }
  }

  /** Does nothing where the kernel reads ahead by itself. */
  @Override
  public final void readAhead(long offset, long length) {
    Objects.checkFromIndexSize(offset, length, segment.byteSize());
    if (alone) {
      tellToRead(offset, length);
    }
  }

  /** Returns 0, or a negative number when the kernel refuses. */
  final synchronized int tellToRead(long offset, long length) {
    if (!arena.scope().isAlive()) {
      return 0;
    }
    long first = segment.address() + offset & -PAGE_BYTES;
    return Libc.willNeed(first, segment.address() + offset + length - first);
  }

  /**
   * Holds the lock of {@link #close}, because the kernel gets an address, and the mapping must
   * still be there.
   */
  @Override
  public synchronized void populate(long offset, long length) {
    Objects.checkFromIndexSize(offset, length, segment.byteSize());
    if (backing.file() != null && arena.scope().isAlive()) {
      long first = segment.address() + offset & -PAGE_BYTES;
      long end = segment.address() + offset + length + PAGE_BYTES - 1 & -PAGE_BYTES;
      Libc.populateWrite(first, end - first);
    }
  }

  /** Gives back the whole pages of the range only. */
  @Override
  public final synchronized void discard(long offset, long length) {
    Objects.checkFromIndexSize(offset, length, segment.byteSize());
    if (backing.file() != null && arena.scope().isAlive()) {
      long first = segment.address() + offset + PAGE_BYTES - 1 & -PAGE_BYTES;
      long end = segment.address() + offset + length & -PAGE_BYTES;
      if (end > first) {
        Libc.remove(first, end - first);
      }
    }
  }

  @Override
  public final Backing backing() {
    return backing;
  }

  /** Sets the backing after the file got a new name. */
  final void renamed(Backing to) {
    assert to.length() == segment.byteSize() : to + " has another length than " + segment;
    backing = to;
  }

  /** Called once, after the segment became invalid. Set before the memory is handed out. */
  final void onClose(Runnable action) {
    onClose = action;
  }

  @Override
  public final synchronized void close() {
    if (arena.scope().isAlive()) {
      MappedArena.close(arena);
      onClose.run();
    }
  }
}
