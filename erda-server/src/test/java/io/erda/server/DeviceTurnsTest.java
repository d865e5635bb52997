package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.testing.Threads;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The server's thread and the I/O threads of two TCP devices take turns, beside clients over shared
 * memory.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DeviceTurnsTest {
  private static final long SEED = Long.getLong("erda.seed", 20261128L);
  private static final int KEYS = 400;
  private static final int OPERATIONS = 6_000;

  /** Cleaning, new regions and doublings of the table all happen during the test. */
  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 16)
          .withCapacityBytes(32 << 20)
          .withBuckets(64)
          .withListening(List.of(Listening.tcp("127.0.0.1:0"), Listening.tcp("127.0.0.1:0")));

  @TempDir Path data;

  /** Each thread has its own keys, and always reads the value that it wrote last. */
  @Test
  void clientsOfAllDevicesLoseNothing() throws Exception {
    int threads = 6;
    int[][] versions = new int[threads][KEYS];
    try (ErdaServer server = ErdaServer.start(data, SMALL)) {
      List<FutureTask<Throwable>> running = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        int thread = t;
        String uri = server.uris().get(t % 3);
        running.add(Threads.start("client " + t, () -> putAndGet(uri, thread, versions[thread])));
      }
      for (FutureTask<Throwable> each : running) {
        assertNull(each.get(), "seed " + SEED + " (-Derda.seed)");
      }
      try (ErdaClient erda = ErdaClient.connect(server.uri())) {
        assertTrue(erda.stats().get("cleaner.cleanings") > 3, () -> erda.stats().toString());
      }
    }
    try (ErdaStore store = ErdaStore.open(data, SMALL.withListening(List.of()));
        ErdaClient erda = store.client()) {
      for (int t = 0; t < threads; t++) {
        for (int key = 0; key < KEYS; key++) {
          assertArrayEquals(value(t, key, versions[t][key]), erda.get(key(t, key)));
        }
      }
    }
    assertEquals(List.of(), StoreVerifier.verify(data).findings());
  }

  private static void putAndGet(String uri, int thread, int[] versions) {
    Random random = new Random(SEED + thread);
    try (ErdaClient erda = ErdaClient.connect(uri)) {
      for (int i = 0; i < OPERATIONS; i++) {
        int key = random.nextInt(KEYS);
        if (random.nextInt(16) == 0) {
          assertEquals(versions[key] > 0, erda.delete(key(thread, key)));
          versions[key] = 0;
        } else {
          erda.put(key(thread, key), value(thread, key, i + 1));
          versions[key] = i + 1;
        }
        int other = random.nextInt(KEYS);
        assertArrayEquals(value(thread, other, versions[other]), erda.get(key(thread, other)));
      }
    }
  }

  private static byte[] key(int thread, int key) {
    return ("key " + thread + " " + key).getBytes(UTF_8);
  }

  /** Returns null for version 0: no value. */
  private static byte[] value(int thread, int key, int version) {
    if (version == 0) {
      return null;
    }
    byte[] value = new byte[64 + (version * 31 + key) % 2000];
    ByteBuffer.wrap(value).putInt(thread).putInt(key).putInt(version);
    return value;
  }
}
