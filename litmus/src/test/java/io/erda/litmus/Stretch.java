package io.erda.litmus;

import io.erda.pmem.Backing;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import java.lang.foreign.MemorySegment;

/** A stretch of another memory, which owns the bytes. */
public final class Stretch implements PersistentMemory {
  private final PersistentMemory whole;
  private final long at;
  private final MemorySegment segment;

  public Stretch(PersistentMemory whole, long at, long bytes) {
    this.whole = whole;
    this.at = at;
    this.segment = whole.segment().asSlice(at, bytes);
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  @Override
  public void put(long offset, MemorySegment source, long sourceOffset, long length) {
    whole.put(at + offset, source, sourceOffset, length);
  }

  @Override
  public void putLongRelease(long offset, long value) {
    whole.putLongRelease(at + offset, value);
  }

  @Override
  public boolean compareAndSetLong(long offset, long expected, long value) {
    return whole.compareAndSetLong(at + offset, expected, value);
  }

  @Override
  public void flush(long offset, long length) {
    whole.flush(at + offset, length);
  }

  @Override
  public void drain() {
    whole.drain();
  }

  @Override
  public Survives survives() {
    return whole.survives();
  }

  @Override
  public boolean visibleBeforeDurable() {
    return false;
  }

  @Override
  public Backing backing() {
    return Backing.none(segment.byteSize());
  }

  @Override
  public void close() {}
}
