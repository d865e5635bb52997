package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import io.erda.server.engine.service.ServerCore;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The kernel is told to read the region that is cleaned before its objects are loaded: in a store
 * larger than memory the server would wait for the device at each of its pages.
 */
final class CleaningReadsAheadTest {
  /** By file: how often the kernel was told to read the end of a memory. */
  private final Map<String, Integer> read = new HashMap<>();

  private final class Told extends ForwardingDirectory {
    Told(MemoryDirectory disk) {
      super(disk);
    }

    @Override
    protected PersistentMemory wrap(String name, PersistentMemory memory) {
      return new ForwardingMemory(memory) {
        private long to;

        @Override
        public void readAhead(long offset, long length) {
          assertTrue(length > 0 && length < segment().byteSize() / 2, "not by pieces: " + length);
          // From the first object on, once to measure it and once to copy it.
          assertTrue(offset == to || to == segment().byteSize() || to == 0, "a gap at " + to);
          to = offset + length;
          if (to == segment().byteSize()) {
            read.merge(name, 1, Integer::sum);
          }
        }
      };
    }
  }

  @Test
  void aRegionIsReadFromItsBeginningToItsEnd() {
    AskedCleaning.run(Survives.PROCESS_CRASH, Told::new, System::nanoTime, ServerCore::doWork);
    assertTrue(
        read.values().stream().anyMatch(times -> times >= 2),
        () -> "to measure and to copy: " + read);
    assertEquals(0, read.getOrDefault("root", 0));
  }
}
