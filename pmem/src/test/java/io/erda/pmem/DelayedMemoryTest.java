package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

final class DelayedMemoryTest extends PersistentMemoryContract {
  /**
   * Advances by one whenever it is read; then the time spent is known. Begins shortly before it
   * overflows.
   */
  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 200);

  private final LongSupplier clock = now::getAndIncrement;

  @Override
  protected PersistentMemory newMemory(long length) throws Exception {
    return delayed(length, new WriteDelay(2, 1));
  }

  private PersistentMemory delayed(long length, WriteDelay delay) throws Exception {
    return new DelayedMemory(new HeapDirectory().create("m", length), delay, clock);
  }

  @Test
  void delaysEachStore() throws Exception {
    try (PersistentMemory memory = delayed(4096, WriteDelay.PAPER)) {
      assertSpent(150, () -> memory.putLongRelease(0, 1));
      assertSpent(150, () -> memory.put(0, MemorySegment.ofArray(new byte[1024]), 0, 1024));
      assertSpent(0, () -> memory.put(0, MemorySegment.ofArray(new byte[8]), 0, 0));
      assertSpent(0, () -> memory.flush(0, 4096));
      assertSpent(0, memory::drain);
    }
  }

  @Test
  void delaysEachDrainedLine() throws Exception {
    try (PersistentMemory memory = delayed(4096, WriteDelay.perLine(100))) {
      assertSpent(0, () -> memory.putLongRelease(0, 1));
      assertSpent(0, () -> memory.flush(60, 8));
      assertSpent(0, () -> memory.flush(128, 64));
      assertSpent(300, memory::drain);
      assertSpent(0, memory::drain);
    }
  }

  @Test
  void negativeDelaysAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> WriteDelay.perStore(-1));
    assertThrows(IllegalArgumentException.class, () -> WriteDelay.perLine(-1));
  }

  /** The clock is read once more than it advances. */
  private void assertSpent(long ns, Runnable action) {
    long start = now.get();
    action.run();
    assertEquals(ns == 0 ? 0 : ns + 1, now.get() - start);
  }
}
