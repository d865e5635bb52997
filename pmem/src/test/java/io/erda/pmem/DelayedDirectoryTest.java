package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class DelayedDirectoryTest extends MemoryDirectoryContract {
  private final AtomicLong now = new AtomicLong();
  private final HeapDirectory all = new HeapDirectory(8 << 20, Survives.PROCESS_CRASH);

  @Override
  protected MemoryDirectory openDirectory() {
    return new DelayedDirectory(all.anotherView(), WriteDelay.PAPER, now::getAndIncrement);
  }

  @Test
  void delaysEveryMemory() throws Exception {
    try (MemoryDirectory directory = openDirectory()) {
      PersistentMemory created = directory.create("m", 64);
      created.putLongRelease(0, 1);
      assertEquals(151, now.get());
      directory.open("m").putLongRelease(0, 1);
      assertEquals(302, now.get());
    }
  }
}
