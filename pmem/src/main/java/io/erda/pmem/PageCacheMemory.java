package io.erda.pmem;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A shared mapping of an ordinary file, left to the kernel to write back: what is stored survives
 * every process, not the power.
 */
final class PageCacheMemory extends SegmentMemory {
  PageCacheMemory(MemorySegment segment, Arena arena, Backing backing) {
    super(segment, arena, backing);
  }

  @Override
  public Survives survives() {
    return Survives.PROCESS_CRASH;
  }

  @Override
  public boolean visibleBeforeDurable() {
    return false;
  }
}
