package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import io.erda.rdma.shm.ShmDevice;
import io.erda.rdma.shm.ShmOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Threads whose interrupt status is set open, connect, put and get; it stays set. */
class InterruptTest {
  /** An operation waits a second with fewer looks at the clock; a spinning one needs many more. */
  private static final int WAKEUPS_MAX = 5_000;

  @TempDir Path data;

  @AfterEach
  void clear() {
    Thread.interrupted();
  }

  private static void exercise(ErdaClient erda) {
    for (int i = 0; i < 200; i++) {
      byte[] key = ("key-" + i).getBytes(UTF_8);
      erda.put(key, key);
      assertEquals("key-" + i, new String(erda.get(key), UTF_8));
    }
    assertTrue(Thread.currentThread().isInterrupted());
  }

  /** The message was "null". */
  @Test
  void interruptedThreadOpensAStore() {
    Thread.currentThread().interrupt();
    for (int i = 0; i < 2; i++) {
      try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
          ErdaClient erda = store.client()) {
        exercise(erda);
      }
      assertTrue(Thread.currentThread().isInterrupted());
    }
  }

  @Test
  void interruptedThreadServesAndConnects() {
    Thread.currentThread().interrupt();
    for (int i = 0; i < 2; i++) {
      try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
          ErdaClient erda = ErdaClient.connect(server.uri())) {
        exercise(erda);
      }
      assertTrue(Thread.currentThread().isInterrupted());
    }
  }

  /** Interrupts that come at any time, from another thread. */
  @Test
  void interruptsInTheMiddleOfOpeningAndConnecting() throws Exception {
    Thread self = Thread.currentThread();
    boolean[] end = new boolean[1];
    Thread interrupter =
        new Thread(
            () -> {
              while (!isSet(end)) {
                self.interrupt();
                Thread.onSpinWait();
              }
            },
            "interrupter");
    interrupter.start();
    try {
      for (int i = 0; i < 10; i++) {
        try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
            ErdaClient erda = ErdaClient.connect(server.uri())) {
          exercise(erda);
        }
      }
    } finally {
      synchronized (end) {
        end[0] = true;
      }
      Thread.interrupted();
      while (interrupter.isAlive()) {
        try {
          interrupter.join();
        } catch (InterruptedException e) {
          // One that came late.
        }
      }
    }
  }

  /**
   * It took up to half a core: neither a selector nor a parked thread sleeps while the interrupt
   * status is set. Each time a sleep ends the clock is read, so that is what counts how often; the
   * operations end by the same clock.
   */
  @Test
  void blockedPutOfAnInterruptedThreadSleeps() throws Exception {
    LongAdder reads = new LongAdder();
    LongSupplier clock =
        () -> {
          reads.increment();
          return System.nanoTime();
        };
    ClientOptions options =
        ClientOptions.DEFAULT.withOperationTimeout(Duration.ofSeconds(1)).withPollingNs(0);
    byte[] key = {1};
    try (ServedElsewhere server = ServedElsewhere.start(data.resolve("data"));
        ErdaClient erda =
            ErdaClient.over(
                ShmDevice.open(ShmOptions.toConnect(clock)),
                server.data().resolve("shm").toAbsolutePath().toString(),
                options,
                clock)) {
      erda.put(key, key);
      server.standStill();
      Thread.currentThread().interrupt();
      putUntilItFails(erda, reads);
      assertTrue(reads.sum() < WAKEUPS_MAX, "with a server that stands still: " + reads);
      assertTrue(Thread.interrupted());
      server.kill();
      Thread.currentThread().interrupt();
      putUntilItFails(erda, reads);
      assertTrue(reads.sum() < WAKEUPS_MAX, "with a server that has gone: " + reads);
      assertTrue(Thread.interrupted());
    }
  }

  /** A server that was told to stop for a while does so after a moment. */
  private static void putUntilItFails(ErdaClient erda, LongAdder reads) {
    byte[] key = {1};
    while (true) {
      reads.reset();
      try {
        erda.put(key, key);
      } catch (ErdaException e) {
        return;
      }
    }
  }

  private static boolean isSet(boolean[] flag) {
    synchronized (flag) {
      return flag[0];
    }
  }
}
