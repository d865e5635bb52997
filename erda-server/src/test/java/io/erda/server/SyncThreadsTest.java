package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.ForwardingMemory;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.PersistentMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Groups of drains, in which each drain is done by a separate thread. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class SyncThreadsTest {
  private static final int MEMORIES = 20;

  private interface Drain {
    void run() throws Exception;
  }

  /** A memory that counts its drains and does something in them. */
  private static final class Counted extends ForwardingMemory {
    private final AtomicInteger drains = new AtomicInteger();
    private volatile Drain drain = () -> {};

    private Counted(PersistentMemory memory) {
      super(memory);
    }

    @Override
    public void drain() {
      drains.incrementAndGet();
      try {
        drain.run();
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private final AtomicInteger wakeups = new AtomicInteger();
  private final SyncThreads syncs = new SyncThreads(wakeups::incrementAndGet, new Failures());
  private final HeapDirectory directory = new HeapDirectory();
  private final List<Counted> memories = new ArrayList<>();

  @BeforeEach
  void makeMemories() throws IOException {
    for (int i = 0; i < MEMORIES; i++) {
      memories.add(new Counted(directory.create("memory-" + i, 64)));
    }
  }

  @AfterEach
  void close() {
    syncs.close();
    memories.forEach(Counted::close);
    directory.close();
  }

  private void begin(int count) {
    memories.subList(0, count).forEach(syncs::add);
    syncs.begin();
  }

  @Test
  void ofEveryGroupEachIsDrainedOnceBeforeItIsDone() {
    long seed = System.nanoTime();
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < 20_000; round++) {
      memories.forEach(each -> each.drains.set(0));
      int count = random.nextInt(MEMORIES + 1);
      begin(count);
      if (random.nextBoolean()) {
        syncs.await();
      }
      while (!syncs.isDone()) {
        Thread.onSpinWait();
      }
      for (int i = 0; i < MEMORIES; i++) {
        assertEquals(
            i < count ? 1 : 0, memories.get(i).drains.get(), "round " + round + ", seed " + seed);
      }
    }
  }

  /** Each of them waits until all of them wait. */
  @Test
  void theyWaitForTheDeviceTogether() {
    CountDownLatch all = new CountDownLatch(8);
    for (Counted each : memories) {
      each.drain =
          () -> {
            all.countDown();
            assertTrue(all.await(20, TimeUnit.SECONDS), "alone");
          };
    }
    begin(8);
    syncs.await();
    assertTrue(syncs.isDone());
  }

  @Test
  void aFailureIsToldOnceAndTheOthersAreDrained() {
    memories.get(1).drain =
        () -> {
          throw new UncheckedIOException(new IOException("no such luck"));
        };
    begin(4);
    syncs.await();
    assertThrows(UncheckedIOException.class, syncs::isDone);
    assertTrue(syncs.isDone());
    assertEquals(1, memories.get(3).drains.get());
  }

  @Test
  void theServerIsWokenWhenAllIsDone() throws InterruptedException {
    begin(5);
    long deadline = System.nanoTime() + 20_000_000_000L;
    while (wakeups.get() == 0 && System.nanoTime() < deadline) {
      Thread.sleep(1);
    }
    assertEquals(1, wakeups.get());
    assertTrue(syncs.isDone());
  }
}
