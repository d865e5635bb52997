package io.erda.pmem;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Makes writes to another memory take longer, by spinning: an emulation of slower media. Owns that
 * memory: closing this closes it.
 *
 * <p>The clock must advance by itself: with a clock that a simulation advances, a store would never
 * return. The first thread that drains waits for the lines that all threads flushed.
 */
public final class DelayedMemory extends ForwardingMemory {
  private final WriteDelay delay;
  private final LongSupplier nanoTime;
  private final AtomicLong lines = new AtomicLong();

  /**
   * Delays by {@code delay}, measured with the clock {@code nanoTime}, which may have any origin.
   */
  public DelayedMemory(PersistentMemory memory, WriteDelay delay, LongSupplier nanoTime) {
    super(memory);
    this.delay = Objects.requireNonNull(delay);
    this.nanoTime = Objects.requireNonNull(nanoTime);
  }

  @Override
  public void put(long offset, MemorySegment source, long sourceOffset, long length) {
    super.put(offset, source, sourceOffset, length);
    if (length > 0) {
      spin(delay.perStoreNs());
    }
  }

  @Override
  public void putLongRelease(long offset, long value) {
    super.putLongRelease(offset, value);
    spin(delay.perStoreNs());
  }

  @Override
  public boolean compareAndSetLong(long offset, long expected, long value) {
    boolean stored = super.compareAndSetLong(offset, expected, value);
    if (stored) {
      spin(delay.perStoreNs());
    }
    return stored;
  }

  @Override
  public void flush(long offset, long length) {
    super.flush(offset, length);
    lines.getAndAdd(MemoryStatistics.lines(offset, length));
  }

  @Override
  public void drain() {
    super.drain();
    spin(lines.getAndSet(0) * delay.perLineNs());
  }

  private void spin(long ns) {
    if (ns > 0) {
      long start = nanoTime.getAsLong();
      while (nanoTime.getAsLong() - start < ns) {
        Thread.onSpinWait();
      }
    }
  }
}
