package io.erda.testbed;

import io.erda.pmem.Backing;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * A part of a device of persistent memory in an emulated machine, whose processor has no caches:
 * stores are durable at once, and need no write-back.
 */
final class DeviceMemory implements PersistentMemory {
  private static final VarHandle LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  private final MemorySegment segment;
  private final Consumer<DeviceMemory> onClose;

  DeviceMemory(MemorySegment segment, Consumer<DeviceMemory> onClose) {
    this.segment = segment;
    this.onClose = onClose;
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  @Override
  public void put(long offset, MemorySegment source, long sourceOffset, long length) {
    MemorySegment.copy(source, sourceOffset, segment, offset, length);
  }

  @Override
  public void putLongRelease(long offset, long value) {
    LONG.setRelease(segment, offset, value);
  }

  @Override
  public boolean compareAndSetLong(long offset, long expected, long value) {
    return LONG.compareAndSet(segment, offset, expected, value);
  }

  @Override
  public void flush(long offset, long length) {
    Objects.checkFromIndexSize(offset, length, segment.byteSize());
  }

  @Override
  public void drain() {
    VarHandle.fullFence();
  }

  @Override
  public Survives survives() {
    return Survives.POWER_FAILURE;
  }

  /** As on real persistent memory, whose caches may be lost. */
  @Override
  public boolean visibleBeforeDurable() {
    return true;
  }

  @Override
  public Backing backing() {
    return Backing.none(segment.byteSize());
  }

  /** Releases the bytes if the name is deleted; the mapping stays as long as the process. */
  @Override
  public void close() {
    onClose.accept(this);
  }
}
