package io.erda.pmem;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Objects;

/**
 * Persistent memory mapped with {@code MAP_SYNC}: write-back of the cache lines is all that
 * durability takes.
 *
 * <p>The class assumes that the persistence domain (DMP) begins at the memory controller, because
 * it can't find out whether the caches belong to the domain too (eADR). So a store counts as
 * visible before it is durable.
 */
final class DaxMemory extends SegmentMemory {
  DaxMemory(MemorySegment segment, Arena arena, Backing backing) {
    super(segment, arena, backing);
  }

  /**
   * The JDK's write-back of a synchronous mapping: line write-backs between two store fences, no
   * system call.
   */
  @Override
  public void flush(long offset, long length) {
    Objects.checkFromIndexSize(offset, length, segment().byteSize());
    if (length > 0) {
      segment().asSlice(offset, length).force();
    }
  }

  @Override
  public void drain() {
    VarHandle.fullFence();
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
