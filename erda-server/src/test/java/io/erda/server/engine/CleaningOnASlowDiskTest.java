package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * Found by a cut of power: the store was cleaned when it was opened again, on a disk that was busy
 * otherwise. The server took 64 steps of cleaning between two checks for requests, each with a
 * drain, and a connecting client timed out.
 */
final class CleaningOnASlowDiskTest {
  private static final long DRAIN_NS = 80_000_000;

  private final AtomicLong now = new AtomicLong();

  /** Drains take {@link #DRAIN_NS}. */
  private final class SlowDisk extends ForwardingDirectory {
    SlowDisk(MemoryDirectory disk) {
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
    AtomicLong longest = new AtomicLong();
    AskedCleaning.run(
        Survives.POWER_FAILURE,
        SlowDisk::new,
        now::get,
        core -> {
          long before = now.get();
          core.doWork();
          longest.accumulateAndGet(now.get() - before, Math::max);
          now.addAndGet(1000);
        });
    assertTrue(longest.get() >= DRAIN_NS, "nothing was drained");
    // The step that retires a region drains five times.
    assertTrue(longest.get() <= 6 * DRAIN_NS, "drains in one step: " + longest.get() / DRAIN_NS);
  }
}
