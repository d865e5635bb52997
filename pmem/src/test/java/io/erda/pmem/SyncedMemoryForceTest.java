package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

/** Tests the calls of msync by drain, and the handling of failures. */
final class SyncedMemoryForceTest {
  private static final int LENGTH = 1 << 20;
  private final List<String> forced = new ArrayList<>();

  private SyncedMemory memory(SyncedMemory.Force force) {
    Arena arena = Arena.ofShared();
    return new SyncedMemory(
        arena.allocate(LENGTH, 4096), arena, new Backing(Path.of("file"), 0, LENGTH), force);
  }

  private SyncedMemory recording() {
    return memory((segment, offset, length) -> forced.add(offset + "+" + length));
  }

  @Test
  void drainForcesWhatWasFlushedOnce() {
    try (SyncedMemory memory = recording()) {
      memory.flush(10, 10);
      memory.flush(4000, 200);
      assertEquals(List.of(), forced);
      memory.drain();
      assertEquals(List.of("0+8192"), forced);
      memory.drain();
      assertEquals(1, forced.size());
    }
  }

  /** Each call waits for the device: two of them would cost twice as much as one. */
  @Test
  void whatLiesFarApartIsForcedWithOneCall() {
    try (SyncedMemory memory = recording()) {
      memory.flush(LENGTH - 1, 1);
      memory.flush(12_000, 8);
      memory.drain();
      assertEquals(List.of("8192+" + (LENGTH - 8192)), forced);
    }
  }

  @Test
  void whatIsPreparedIsWrittenToo() {
    try (SyncedMemory memory = recording()) {
      memory.populate(8192, 8192);
      assertEquals(List.of("8192+8192"), forced);
    }
  }

  /**
   * The kernel reports the failure once. After that no bytes that were flushed before may count as
   * durable.
   */
  @Test
  void aFailureWhilePagesArePreparedIsTheNextDrains() {
    boolean[] fail = {true};
    try (SyncedMemory memory =
        memory((segment, offset, length) -> {
          if (fail[0]) {
            throw new UncheckedIOException(new IOException("no such luck"));
          }
        })) {
      memory.flush(0, 8);
      memory.populate(8192, 8192);
      fail[0] = false;
      assertThrows(UncheckedIOException.class, memory::drain);
    }
  }

  @Test
  void aFailureIsFinal() {
    boolean[] fail = {true};
    SyncedMemory.Force force =
        (segment, offset, length) -> {
          if (fail[0]) {
            throw new UncheckedIOException(new IOException("Input/output error"));
          }
        };
    try (SyncedMemory memory = memory(force)) {
      memory.flush(0, 8);
      String message = assertThrows(UncheckedIOException.class, memory::drain).getMessage();
      assertTrue(message.contains("file: msync of bytes 0 to 4096 failed"), message);
      assertTrue(message.contains("Input/output error"), message);
      fail[0] = false;
      assertEquals(message, assertThrows(UncheckedIOException.class, memory::drain).getMessage());
      memory.flush(8192, 8);
      assertThrows(UncheckedIOException.class, memory::drain);
    }
  }

  /** Another thread took the range and is still writing it. */
  @Test
  void drainWaitsForWhoeverForcesItsRange() {
    CountDownLatch inForce = new CountDownLatch(1);
    CountDownLatch written = new CountDownLatch(1);
    SyncedMemory.Force force =
        (segment, offset, length) -> {
          inForce.countDown();
          try {
            written.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          forced.add("done");
        };
    assertTimeoutPreemptively(
        Duration.ofSeconds(30),
        () -> {
          try (SyncedMemory memory = memory(force)) {
            memory.flush(0, 8);
            Thread other = Thread.ofPlatform().daemon().start(memory::drain);
            inForce.await();
            FutureTask<Integer> mine =
                new FutureTask<>(() -> {
                  memory.drain();
                  return forced.size();
                });
            Thread waiting = Thread.ofPlatform().daemon().start(mine);
            while (waiting.getState() != Thread.State.BLOCKED && waiting.isAlive()) {
              Thread.onSpinWait();
            }
            // A flush does not wait for a drain.
            memory.flush(64, 8);
            written.countDown();
            assertTrue(mine.get() >= 1, "returned before the range was written");
            other.join();
          }
        });
  }
}
