package io.erda.pmem;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Objects;

/**
 * Persistent memory mapped with {@code MAP_SYNC}: a store is durable once its cache lines are
 * written back.
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
   * Calls the JDK's write-back of a synchronous mapping, which writes back lines between two store
   * fences, without a system call.
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
