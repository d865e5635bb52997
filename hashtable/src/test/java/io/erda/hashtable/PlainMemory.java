package io.erda.hashtable;

import io.erda.pmem.Backing;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Native memory that forgets nothing and counts its stores. */
final class PlainMemory implements PersistentMemory {
  private static final VarHandle WORD =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  private final MemorySegment segment;
  private long stores;

  PlainMemory(long bytes) {
    segment = Arena.ofAuto().allocate(bytes, 64);
  }

  long stores() {
    return stores;
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  @Override
  public void put(long offset, MemorySegment source, long sourceOffset, long length) {
    stores++;
    MemorySegment.copy(source, sourceOffset, segment, offset, length);
  }

  @Override
  public void putLongRelease(long offset, long value) {
    stores++;
    WORD.setRelease(segment, offset, value);
  }

  @Override
  public boolean compareAndSetLong(long offset, long expected, long value) {
    boolean stored = WORD.compareAndSet(segment, offset, expected, value);
    stores += stored ? 1 : 0;
    return stored;
  }

  @Override
  public void flush(long offset, long length) {}

  @Override
  public void drain() {}

  @Override
  public Survives survives() {
    return Survives.PROCESS_CRASH;
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
