package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.CleanerOptions;
import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * Found by a cut of power: the store was cleaned when it was opened again, on a disk that was busy
 * otherwise. The server took 64 steps of it between two looks at its clients, each with a drain,
 * and who connected waited for longer than it may take.
 */
final class CleaningOnASlowDiskTest {
  private static final long DRAIN_NS = 80_000_000;

  private final AtomicLong now = new AtomicLong();

  /** Drains take {@link #DRAIN_NS}. */
  private final class SlowDisk extends ForwardingDirectory {
    SlowDisk(HeapDirectory disk) {
      super(disk);
    }

    @Override
    protected PersistentMemory wrap(String name, PersistentMemory memory) {
      return new ForwardingMemory(memory) {
        @Override
        public void drain() {
          now.addAndGet(DRAIN_NS);
          super.drain();
        }
      };
    }
  }

  @Test
  void anIdleServerLooksAtItsClientsBetweenSlowSteps() {
    HeapDirectory disk = new HeapDirectory(1 << 23, Survives.POWER_FAILURE);
    CleaningCrashTest.fill(disk);
    StoreEngine engine =
        StoreOpening.open(new SlowDisk(disk.anotherView()), CleaningCrashTest.SMALL, new Random(7));
    ServiceOptions service =
        new ServiceOptions(8, 1 << 20, 1 << 13, 0, new CleanerOptions(2, 0, 0, 0, 0));
    try (ServerCore core = new ServerCore(engine, service, now::get)) {
      core.cleaner().ask(-1);
      long longest = 0;
      for (int i = 0; core.cleaner().asked() || core.hasMore(); i++) {
        assertTrue(i < 100_000, "cleaning does not end");
        long before = now.get();
        core.doWork();
        longest = Math.max(longest, now.get() - before);
        now.addAndGet(1000);
      }
      assertTrue(core.cleaner().cleanings() > 0, "nothing was cleaned");
      assertTrue(longest >= DRAIN_NS, "nothing was drained");
      // The step that retires a region drains five times.
      assertTrue(longest <= 6 * DRAIN_NS, "drains in one step: " + longest / DRAIN_NS);
    }
  }
}
