package io.erda.pmem;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Forwards to another memory: the base of memories that do one thing differently. Owns that memory:
 * closing this closes it.
 */
public abstract class ForwardingMemory implements PersistentMemory {
  private final PersistentMemory memory;

  /** Forwards to {@code memory}. */
  protected ForwardingMemory(PersistentMemory memory) {
    this.memory = Objects.requireNonNull(memory);
  }

  @Override
  public MemorySegment segment() {
    return memory.segment();
  }

  @Override
  public void put(long offset, MemorySegment source, long sourceOffset, long length) {
    memory.put(offset, source, sourceOffset, length);
  }

  @Override
  public void putLongRelease(long offset, long value) {
    memory.putLongRelease(offset, value);
  }

  @Override
  public boolean compareAndSetLong(long offset, long expected, long value) {
    return memory.compareAndSetLong(offset, expected, value);
  }

  @Override
  public void flush(long offset, long length) {
    memory.flush(offset, length);
  }

  @Override
  public void drain() {
    memory.drain();
  }

  @Override
  public void populate(long offset, long length) {
    memory.populate(offset, length);
  }

  @Override
  public void readAhead(long offset, long length) {
    memory.readAhead(offset, length);
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
  public boolean drainWaitsForDevice() {
    return memory.drainWaitsForDevice();
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
