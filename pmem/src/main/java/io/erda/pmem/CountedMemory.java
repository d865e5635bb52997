package io.erda.pmem;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Counts the stores, flushes and drains of another memory. Owns that memory: closing this closes
 * it. As thread-safe as that memory.
 */
public final class CountedMemory extends ForwardingMemory {
  private final StoreCounter counter;

  /** Counts with a counter that may be shared. */
  public CountedMemory(PersistentMemory memory, StoreCounter counter) {
    super(memory);
    this.counter = Objects.requireNonNull(counter);
  }

  /**
   * Returns the counts of this memory and of others that share its counter. Any thread may call
   * this.
   */
  public MemoryStatistics statistics() {
    return counter.statistics();
  }

  @Override
  public void put(long offset, MemorySegment source, long sourceOffset, long length) {
    // The comparison throws the exception that the store would throw, before it counts anything.
    counter.store(segment(), offset, source, sourceOffset, length);
    super.put(offset, source, sourceOffset, length);
  }

  @Override
  public void putLongRelease(long offset, long value) {
    counter.storeLong((long) SegmentMemory.LONG.getOpaque(segment(), offset), value);
    super.putLongRelease(offset, value);
  }

  /** {@inheritDoc} Only a store that was made is counted. */
  @Override
  public boolean compareAndSetLong(long offset, long expected, long value) {
    boolean stored = super.compareAndSetLong(offset, expected, value);
    if (stored) {
      counter.storeLong(expected, value);
    }
    return stored;
  }

  @Override
  public void flush(long offset, long length) {
    super.flush(offset, length);
    counter.flush(offset, length);
  }

  @Override
  public void drain() {
    super.drain();
    counter.drain();
  }
}
