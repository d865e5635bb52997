package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Threads whose interrupt status is set open, connect, put and get; it stays set. */
class InterruptTest {
  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withHeads(2)
          .withRegionBytes(1 << 22)
          .withSegmentBytes(1 << 20)
          .withCapacityBytes(1 << 26)
          .withBuckets(1 << 12);

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
      try (ErdaStore store = ErdaStore.open(data, SMALL);
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
      try (ErdaServer server = ErdaServer.start(data, SMALL);
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
        try (ErdaServer server = ErdaServer.start(data, SMALL);
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

  private static boolean isSet(boolean[] flag) {
    synchronized (flag) {
      return flag[0];
    }
  }
}
