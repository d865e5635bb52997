package io.erda.pmem;

import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A shared mapping of an ordinary file that {@link #drain()} writes to the device with msync(2).
 *
 * <p>{@code flush} notes the range that was flushed; {@code drain} writes all of it with one call,
 * whichever threads flushed it: the kernel finds the dirty pages in the range by itself, and a
 * second call would wait for the device a second time. Drains run one after the other. So a thread
 * whose bytes are being written by another thread's drain waits for that drain, and then usually
 * has nothing left to write (group commit).
 *
 * <p>After a failed msync the kernel may have dropped the pages that it could not write, and the
 * next msync would succeed without them. So the first failure is final: every later drain throws it
 * again.
 */
final class SyncedMemory extends SegmentMemory {
  /** msync(2) of a range of the mapping; fails with an {@link UncheckedIOException}. */
  @FunctionalInterface
  interface Force {
    void force(MemorySegment segment, long offset, long length);
  }

  private static final long PAGE = 4096;

  private final Force force;
  private final Object draining = new Object();
  private final Object noting = new Object();

  /** The range of whole pages that were flushed, with the gaps; empty when the end is 0. */
  private long dirtyStart;

  private long dirtyEnd;
  private UncheckedIOException failure;

  SyncedMemory(MemorySegment segment, Arena arena, Backing backing) {
    this(segment, arena, backing, (all, offset, length) -> all.asSlice(offset, length).force());
  }

  SyncedMemory(MemorySegment segment, Arena arena, Backing backing, Force force) {
    super(segment, arena, backing);
    this.force = force;
  }

  @Override
  public void flush(long offset, long length) {
    Objects.checkFromIndexSize(offset, length, segment().byteSize());
    if (length > 0) {
      long start = offset & -PAGE;
      long end = offset + length + PAGE - 1 & -PAGE;
      synchronized (noting) {
        dirtyStart = dirtyEnd == 0 ? start : Math.min(dirtyStart, start);
        dirtyEnd = Math.max(dirtyEnd, end);
      }
    }
  }

  /**
   * {@inheritDoc} Also writes the range to the device, because the first write of a page whose
   * space was only allocated waits for the file system's journal too, and a drain need not wait for
   * that later. Drains wait for the end of this call, because the kernel reports a failure to only
   * one caller.
   */
  @Override
  public synchronized void populate(long offset, long length) {
    super.populate(offset, length);
    synchronized (draining) {
      if (failure == null && segment().scope().isAlive()) {
        try {
          sync(offset & -PAGE, Math.min(offset + length, segment().byteSize()));
        } catch (UncheckedIOException e) {
          // The next drain throws it.
        }
      }
    }
  }

  @Override
  public void drain() {
    synchronized (draining) {
      if (failure != null) {
        throw new UncheckedIOException(failure.getMessage(), failure.getCause());
      }
      long start;
      long end;
      synchronized (noting) {
        start = dirtyStart;
        end = Math.min(dirtyEnd, segment().byteSize());
        dirtyEnd = 0;
      }
      if (end > 0) {
        sync(start, end);
      }
    }
  }

  private void sync(long start, long end) {
    assert Thread.holdsLock(draining) : "drains come one after the other";
    assert failure == null : "the first failure is final: " + failure.getMessage();
    try {
      force.force(segment(), start, end - start);
    } catch (UncheckedIOException e) {
      failure =
          new UncheckedIOException(
              backing().file()
                  + ": msync of bytes "
                  + start
                  + " to "
                  + end
                  + " failed; "
                  + "what was not drained before may be lost: "
                  + e.getCause().getMessage(),
              e.getCause());
      if (backing().directory() != null) {
        backing().directory().noteLost(failure.getMessage());
      }
      throw failure;
    }
  }

  @Override
  public Survives survives() {
    return Survives.POWER_FAILURE;
  }

  @Override
  public boolean visibleBeforeDurable() {
    return true;
  }

  @Override
  public boolean drainWaitsForDevice() {
    return true;
  }
}
