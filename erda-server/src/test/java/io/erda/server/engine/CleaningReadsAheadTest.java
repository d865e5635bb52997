package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.CleanerOptions;
import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * The region that is cleaned is told to be read before its objects are looked at: in a store larger
 * than memory the server would wait for the device at each of its pages.
 */
final class CleaningReadsAheadTest {
  /** How often the end of a memory was told to be read, by file. */
  private final Map<String, Integer> read = new HashMap<>();

  private final class Told extends ForwardingDirectory {
    Told(HeapDirectory disk) {
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
    HeapDirectory disk = new HeapDirectory(1 << 23, Survives.PROCESS_CRASH);
    CleaningCrashTest.fill(disk);
    StoreEngine engine =
        StoreOpening.open(new Told(disk.anotherView()), CleaningCrashTest.SMALL, new Random(7));
    ServiceOptions service =
        new ServiceOptions(8, 1 << 20, 1 << 13, 0, new CleanerOptions(2, 0, 0, 0, 0));
    try (ServerCore core = new ServerCore(engine, service, System::nanoTime)) {
      core.cleaner().ask(-1);
      for (int i = 0; core.cleaner().asked() || core.hasMore(); i++) {
        assertTrue(i < 1_000_000, "cleaning does not end");
        core.doWork();
      }
      assertTrue(core.cleaner().cleanings() > 0, "nothing was cleaned");
      assertTrue(
          read.values().stream().anyMatch(times -> times >= 2),
          () -> "to measure and to copy: " + read);
      assertEquals(0, read.getOrDefault("root", 0));
    }
  }
}
