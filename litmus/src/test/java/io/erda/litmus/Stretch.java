package io.erda.litmus;

import io.erda.pmem.Backing;
import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.PersistentMemory;
import java.lang.foreign.MemorySegment;

/** A stretch of another memory, which owns the bytes. */
public final class Stretch extends ForwardingMemory {
  private final long at;
  private final MemorySegment segment;

  public Stretch(PersistentMemory whole, long at, long bytes) {
    super(whole);
    this.at = at;
    this.segment = whole.segment().asSlice(at, bytes);
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  @Override
  public void put(long offset, MemorySegment source, long sourceOffset, long length) {
    super.put(at + offset, source, sourceOffset, length);
  }

  @Override
  public void putLongRelease(long offset, long value) {
    super.putLongRelease(at + offset, value);
  }

  @Override
  public boolean compareAndSetLong(long offset, long expected, long value) {
    return super.compareAndSetLong(at + offset, expected, value);
  }

  @Override
  public void flush(long offset, long length) {
    super.flush(at + offset, length);
  }

  @Override
  public Backing backing() {
    return Backing.none(segment.byteSize());
  }

  @Override
  public void close() {}
}
