package io.erda.pmem;

import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A shared mapping of an ordinary file that {@link #drain()} writes to the device with msync(2).
 *
 * <p>{@code flush} notes ranges; {@code drain} takes all of them, whoever flushed them. Drains come
 * one after the other, so a thread whose ranges another one took waits until they are written, and
 * usually finds its own work done (group commit).
 *
 * <p>After a failed msync the kernel may have dropped what it could not write, and the next msync
 * would succeed over it. So the first failure is final: every later drain throws it again.
 */
final class SyncedMemory extends SegmentMemory {
  /** msync(2) of a range of the mapping; fails with an {@link UncheckedIOException}. */
  @FunctionalInterface
  interface Force {
    void force(MemorySegment segment, long offset, long length);
  }

  private final Force force;
  private final Object draining = new Object();
  private final DirtyRanges noted = new DirtyRanges();
  private final DirtyRanges taken = new DirtyRanges();
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
      synchronized (noted) {
        noted.add(offset, offset + length);
      }
    }
  }

  @Override
  public void drain() {
    synchronized (draining) {
      if (failure != null) {
        throw new UncheckedIOException(failure.getMessage(), failure.getCause());
      }
      synchronized (noted) {
        taken.takeFrom(noted);
      }
      for (int i = 0; i < taken.count(); i++) {
        sync(taken.start(i), Math.min(taken.end(i), segment().byteSize()));
      }
    }
  }

  private void sync(long start, long end) {
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
}
