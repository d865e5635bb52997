package io.erda.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/**
 * The zero-allocation forms allocate nothing in the steady state: once they are compiled, not a
 * byte in a whole round.
 */
class AllocationTest {
  private static final int GETS = 100_000;
  private static final int PUTS = 20_000;
  private static final int ROUNDS_MAX = 12;

  private final FakeStore store = new FakeStore();
  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /**
   * Until a round allocates nothing: before that the interpreter and the compilers' deoptimisations
   * do.
   */
  private void assertSteady(Runnable round) {
    StringBuilder allocated = new StringBuilder();
    for (int i = 0; i < ROUNDS_MAX; i++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      round.run();
      long bytes = threads.getCurrentThreadAllocatedBytes() - before;
      if (bytes == 0) {
        return;
      }
      allocated.append(' ').append(bytes);
    }
    throw new AssertionError("bytes allocated in each round:" + allocated);
  }

  @Test
  void gets() {
    store.put("key", "x".repeat(1024));
    try (ErdaClient erda = store.client();
        Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocateFrom("key").asSlice(0, 3);
      MemorySegment absent = arena.allocateFrom("nothing").asSlice(0, 7);
      MemorySegment into = arena.allocate(2048);
      long[] sum = {0};
      assertSteady(() -> {
        long got = 0;
        for (int i = 0; i < GETS; i++) {
          got += erda.get(key, into) + erda.get(absent, into);
        }
        sum[0] = got;
      });
      assertEquals(GETS * 1023L, sum[0]);
    }
  }

  /** While the table is doubled: one key in the old one, one in the new one, one in neither. */
  @Test
  void getsWhileDoubling() {
    store.put("key", "x".repeat(1024));
    store.put("moved", "x".repeat(1024));
    store.beginDoubling();
    store.move(store.entryOf("moved".getBytes(java.nio.charset.StandardCharsets.UTF_8)));
    try (ErdaClient erda = store.client();
        Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocateFrom("key").asSlice(0, 3);
      MemorySegment moved = arena.allocateFrom("moved").asSlice(0, 5);
      MemorySegment absent = arena.allocateFrom("nothing").asSlice(0, 7);
      MemorySegment into = arena.allocate(2048);
      long[] sum = {0};
      assertSteady(() -> {
        long got = 0;
        for (int i = 0; i < GETS; i++) {
          got += erda.get(key, into) + erda.get(moved, into) + erda.get(absent, into);
        }
        sum[0] = got;
      });
      assertEquals(GETS * 2047L, sum[0]);
    }
  }

  @Test
  void getsOfSeveralKeys() {
    store.put("key", "x".repeat(1024));
    try (ErdaClient erda = store.client();
        Arena arena = Arena.ofConfined()) {
      MemorySegment[] keys = new MemorySegment[20];
      MemorySegment[] into = new MemorySegment[20];
      for (int i = 0; i < 20; i++) {
        keys[i] = arena.allocateFrom("keyless").asSlice(0, i % 2 == 0 ? 3 : 7);
        into[i] = arena.allocate(2048);
      }
      long[] lengths = new long[20];
      ErdaException[] errors = new ErdaException[20];
      assertSteady(() -> {
        for (int i = 0; i < GETS / 20; i++) {
          erda.getAll(keys, into, lengths, errors);
        }
      });
      assertEquals(1024, lengths[18]);
      assertEquals(-1, lengths[19]);
    }
  }

  /** The server allocates memory, so it runs in another thread. */
  @Test
  void puts() throws InterruptedException {
    store.leaseBytes = 1 << 17;
    store.answer =
        (type, request) -> {
          if (type == Message.LEASE) {
            store.rewind();
          }
          return Result.OK;
        };
    AtomicBoolean stop = new AtomicBoolean();
    Thread server =
        new Thread(() -> {
          while (!stop.get()) {
            store.getAsLong();
            Thread.yield();
          }
        });
    server.setDaemon(true);
    server.start();
    ClientOptions options = ClientOptions.DEFAULT.withPollingNs(1L << 40);
    try (ErdaClient erda =
            ErdaClient.over(store.network.device(), FakeStore.ADDRESS, options, System::nanoTime);
        Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocateFrom("key").asSlice(0, 3);
      MemorySegment value = arena.allocate(256);
      assertSteady(() -> {
        for (int i = 0; i < PUTS; i++) {
          value.set(ValueLayout.JAVA_INT, 0, i);
          erda.put(key, value);
        }
      });
      MemorySegment[] keys = {key, arena.allocateFrom("ke2"), arena.allocateFrom("ke3")};
      MemorySegment[] values = {value, value, value};
      ErdaException[] errors = new ErdaException[3];
      assertSteady(() -> {
        for (int i = 0; i < PUTS / 10; i++) {
          erda.putAll(keys, values, errors);
        }
      });
      assertTrue(erda.statistics().leases() > 10, "renewing a lease allocates nothing either");
    } finally {
      stop.set(true);
      server.join();
    }
  }
}
