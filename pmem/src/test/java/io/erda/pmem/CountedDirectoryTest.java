package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

final class CountedDirectoryTest extends MemoryDirectoryContract {
  private final HeapDirectory all = new HeapDirectory(8 << 20, Survives.PROCESS_CRASH);

  @Override
  protected MemoryDirectory openDirectory() {
    return new CountedDirectory(all.anotherView());
  }

  @Test
  void countsAllMemoriesTogether() throws Exception {
    try (CountedDirectory directory = new CountedDirectory(all.anotherView())) {
      PersistentMemory created = directory.create("m", 64);
      PersistentMemory reopened = directory.open("m");
      created.put(0, MemorySegment.ofArray(new byte[] {1, 2}), 0, 2);
      created.close();
      reopened.putLongRelease(0, 1);
      reopened.flush(0, 8);
      reopened.drain();
      assertEquals(new MemoryStatistics(2, 10, 3, 1, 1, 1), directory.statistics());
    }
  }
}
