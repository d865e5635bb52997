package io.erda.eval.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.eval.process.ThreadCounters.Counts;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class ThreadCountersTest {
  /** So much that the allocator gives it back to the kernel each time. */
  private static final long FRESH_BYTES = 64 << 20;

  private static final List<String> EVENTS = List.of("instructions", "cache-misses");

  @Test
  void whatIsCountedIsRead() {
    Counts counts =
        ThreadCounters.read(
            """
            1234567,,instructions:u,1000000,100.00,1.23,insn per cycle
            89,,cache-misses:u,1000000,100.00,,
            """,
            EVENTS);
    assertEquals(Map.of("instructions", 1234567L, "cache-misses", 89L), counts.counts());
    assertEquals(Optional.empty(), counts.missing());
  }

  @Test
  void whatAMachineDoesNotCountIsSaid() {
    Counts counts =
        ThreadCounters.read(
            """
            1234567,,instructions,1000000,100.00,,
            <not supported>,,cache-misses,0,100.00,,
            """,
            EVENTS);
    assertEquals(Map.of("instructions", 1234567L), counts.counts());
    assertEquals(Optional.of("perf says cache-misses <not supported>"), counts.missing());
  }

  @Test
  void aRefusalIsSaid() {
    Counts counts =
        ThreadCounters.read("Error:\nNo permission to enable it.\nMore of it.\n", EVENTS);
    assertEquals(Map.of(), counts.counts());
    assertEquals(Optional.of("perf says No permission to enable it."), counts.missing());
  }

  @Test
  void silenceIsSaid() {
    assertEquals(Optional.of("perf says nothing"), ThreadCounters.read("", EVENTS).missing());
  }

  /**
   * Page faults are the kernel's own to count, so every machine with perf does, and a thread that
   * sleeps has none.
   */
  @Test
  void aThreadOfThisProcessIsCounted() throws InterruptedException {
    Assumptions.assumeTrue(Programs.find("perf").isPresent(), "perf is not installed");
    CountDownLatch named = new CountDownLatch(1); // a thread has its name when it runs
    Thread busy =
        new Thread(
            () -> {
              named.countDown();
              while (!Thread.currentThread().isInterrupted()) {
                try (Arena arena = Arena.ofConfined()) {
                  arena.allocate(FRESH_BYTES).fill((byte) 1);
                }
              }
            },
            "counted-busy");
    busy.start();
    try {
      named.await();
      CpuTime now = CpuTime.of(ProcessHandle.current().pid());
      Counts counts =
          ThreadCounters.of(
              now.threadNumber("counted-busy"), List.of("page-faults"), Duration.ofMillis(100));
      boolean refused = counts.missing().orElse("").contains("permission");
      Assumptions.assumeFalse(refused, "this user may not count");
      assertEquals(Optional.empty(), counts.missing());
      assertTrue(counts.counts().get("page-faults") > 0, counts::toString);
    } finally {
      busy.interrupt();
      busy.join();
    }
  }
}
