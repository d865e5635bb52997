package io.erda.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The zero-allocation forms allocate nothing in the steady state. */
class AllocationTest {
  private static final int WARM_UP = 60_000;
  private static final int MEASURED = 100_000;

  private final FakeStore store = new FakeStore();
  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @Test
  void gets() {
    store.put("key", "x".repeat(1024));
    try (ErdaClient erda = store.client();
        Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocateFrom("key").asSlice(0, 3);
      MemorySegment absent = arena.allocateFrom("nothing").asSlice(0, 7);
      MemorySegment into = arena.allocate(2048);
      get(erda, key, absent, into, WARM_UP);
      long before = threads.getCurrentThreadAllocatedBytes();
      long sum = get(erda, key, absent, into, MEASURED);
      long allocated = threads.getCurrentThreadAllocatedBytes() - before;
      assertEquals(MEASURED * 1023L, sum);
      assertTrue(allocated < MEASURED / 100, allocated + " bytes in " + MEASURED + " gets");
    }
  }

  private static long get(ErdaClient erda, MemorySegment key, MemorySegment absent, MemorySegment into, int times) {
    long sum = 0;
    for (int i = 0; i < times; i++) {
      sum += erda.get(key, into) + erda.get(absent, into);
    }
    return sum;
  }

  /** The fake server allocates, so it answers on a thread of its own, over a device whose queues allocate nothing. */
  @Test
  void puts() throws InterruptedException {
    store.leaseBytes = 1 << 17;
    // Publishes are answered; the log is as good as endless because leases begin anew.
    store.answer =
        (type, request) -> {
          if (type == Message.LEASE) {
            store.rewind();
          }
          return Result.OK;
        };
    AtomicBoolean stop = new AtomicBoolean();
    Thread server =
        new Thread(
            () -> {
              while (!stop.get()) {
                store.getAsLong();
                Thread.yield();
              }
            });
    server.setDaemon(true);
    server.start();
    try (ErdaClient erda =
            ErdaClient.over(store.network.device(), FakeStore.ADDRESS, ClientOptions.DEFAULT.withPollingNs(1L << 40), System::nanoTime);
        Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocateFrom("key").asSlice(0, 3);
      MemorySegment value = arena.allocate(256);
      put(erda, key, value, WARM_UP / 4);
      long before = threads.getCurrentThreadAllocatedBytes();
      put(erda, key, value, MEASURED / 4);
      long allocated = threads.getCurrentThreadAllocatedBytes() - before;
      assertTrue(allocated < MEASURED / 100, allocated + " bytes in " + MEASURED / 4 + " puts");
    } finally {
      stop.set(true);
      server.join();
    }
  }

  private static void put(ErdaClient erda, MemorySegment key, MemorySegment value, int times) {
    for (int i = 0; i < times; i++) {
      value.set(ValueLayout.JAVA_INT, 0, i);
      erda.put(key, value);
    }
  }
}
