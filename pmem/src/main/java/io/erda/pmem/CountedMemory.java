package io.erda.pmem;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Counts what goes to another memory. Owns that memory: closing this closes it. As thread-safe as
 * what it counts.
 */
public final class CountedMemory implements PersistentMemory {
  private final PersistentMemory memory;
  private final StoreCounter counter;

  /** Counts with a counter that may be shared. */
  public CountedMemory(PersistentMemory memory, StoreCounter counter) {
    this.memory = Objects.requireNonNull(memory);
    this.counter = Objects.requireNonNull(counter);
  }

  /** What was counted, by this memory and by others that share its counter. Any thread. */
  public MemoryStatistics statistics() {
    return counter.statistics();
  }

  @Override
  public MemorySegment segment() {
    return memory.segment();
  }

  @Override
  public void put(long offset, MemorySegment source, long sourceOffset, long length) {
    // Comparing fails, before it counts, where storing would.
    counter.store(memory.segment(), offset, source, sourceOffset, length);
    memory.put(offset, source, sourceOffset, length);
  }

  @Override
  public void putLongRelease(long offset, long value) {
    counter.storeLong((long) SegmentMemory.LONG.getOpaque(memory.segment(), offset), value);
    memory.putLongRelease(offset, value);
  }

  @Override
  public void flush(long offset, long length) {
    memory.flush(offset, length);
    counter.flush(offset, length);
  }

  @Override
  public void drain() {
    memory.drain();
    counter.drain();
  }

  @Override
  public void populate(long offset, long length) {
    memory.populate(offset, length);
  }

  @Override
  public void discard(long offset, long length) {
    memory.discard(offset, length);
  }

  @Override
  public Survives survives() {
    return memory.survives();
  }

  @Override
  public boolean visibleBeforeDurable() {
    return memory.visibleBeforeDurable();
  }

  @Override
  public Backing backing() {
    return memory.backing();
  }

  @Override
  public void close() {
    memory.close();
  }
}
