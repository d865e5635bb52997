package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import io.erda.testing.Threads;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Puts of an embedded store that need no message. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LocalPublishingTest {
  private static final long SEED = Long.getLong("erda.seed", 20261124L);

  /** Regions are cleaned and the table is doubled all the time. */
  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withHeads(2)
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 16)
          .withCapacityBytes(32 << 20)
          .withBuckets(64);

  @TempDir Path data;

  private static byte[] key(int i) {
    return ("key-" + i).getBytes(UTF_8);
  }

  private static byte[] value(int i, int version) {
    return (i + " " + version + " ").repeat(20).getBytes(UTF_8);
  }

  private static String text(byte[] value) {
    return value == null ? null : new String(value, UTF_8);
  }

  private static Map<String, Long> figures(ErdaStore store) throws InterruptedException {
    return store.figures(Duration.ofSeconds(20));
  }

  @Test
  void putsAndDeletesNeedNoMessage() throws Exception {
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClient client = store.client()) {
      client.put(key(0), value(0, 0));
      long before = figures(store).get("clients.writes");
      for (int i = 0; i < 200; i++) {
        client.put(key(i), value(i, 1));
        assertEquals(text(value(i, 1)), text(client.get(key(i))));
      }
      for (int i = 0; i < 200; i += 2) {
        assertTrue(client.delete(key(i)));
        assertFalse(client.delete(key(i)), "it is gone already");
        assertNull(client.get(key(i)));
      }
      Map<String, Long> after = figures(store);
      assertEquals(201, after.get("requests.answered.put.ok"));
      assertEquals(200, after.get("requests.answered.delete.ok"));
      long written = after.get("clients.writes") - before;
      assertTrue(written <= 100, written + " of 400 were sent, though nobody else was there");
    }
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClient client = store.client()) {
      for (int i = 0; i < 200; i++) {
        assertEquals(i % 2 == 0 ? null : text(value(i, 1)), text(client.get(key(i))));
      }
    }
  }

  /** WRITEs that are to be counted, or delayed, are WRITEs. */
  @Test
  void whoCountsWritesGetsThem() throws Exception {
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS.withCounted(true));
        ErdaClient client = store.client()) {
      for (int i = 0; i < 100; i++) {
        client.put(key(i), value(i, 0));
      }
      assertEquals(100, figures(store).get("clients.writes"));
    }
  }

  /**
   * Threads overwrite separate keys and a shared one, while regions are cleaned and the table
   * doubles: some puts are published at once, others find another thread taking the steps.
   */
  @Test
  void threadsThatMeetLoseNothing() throws Exception {
    System.out.println("LocalPublishingTest: -Derda.seed=" + SEED);
    int threads = 3;
    int keys = 400;
    int[][] versions = new int[threads][keys];
    try (ErdaStore store = ErdaStore.open(data, SMALL)) {
      List<FutureTask<Throwable>> running = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        int thread = t;
        running.add(
            Threads.start("client " + t, () -> overwrite(store, thread, keys, versions[thread])));
      }
      for (FutureTask<Throwable> each : running) {
        assertNull(each.get());
      }
      Map<String, Long> figures = figures(store);
      assertTrue(figures.get("cleaner.cleanings") > 0, "nothing was cleaned: " + figures);
      long sent = figures.get("clients.writes");
      long puts = figures.get("puts");
      assertTrue(sent < puts, "all of " + puts + " puts were sent");
    }
    try (ErdaStore store = ErdaStore.open(data, SMALL);
        ErdaClient client = store.client()) {
      for (int t = 0; t < threads; t++) {
        for (int i = 0; i < keys; i++) {
          int id = t * keys + i;
          String expected = versions[t][i] < 0 ? null : text(value(id, versions[t][i]));
          assertEquals(expected, text(client.get(key(id))), "thread " + t + ", key " + i);
        }
      }
      assertNotNull(client.get(key(-1)));
    }
  }

  private static void overwrite(ErdaStore store, int thread, int keys, int[] versions) {
    SplittableRandom random = new SplittableRandom(SEED + thread);
    java.util.Arrays.fill(versions, -1);
    try (ErdaClient client = store.client()) {
      for (int n = 0; n < 60_000; n++) {
        int i = random.nextInt(keys);
        int id = thread * keys + i;
        if (random.nextInt(8) == 0) {
          assertEquals(versions[i] >= 0, client.delete(key(id)), "key " + i + " at step " + n);
          versions[i] = -1;
        } else {
          client.put(key(id), value(id, n));
          versions[i] = n;
        }
        if (n % 16 == 0) {
          client.put(key(-1), value(-1, n));
          String expected = versions[i] < 0 ? null : text(value(id, versions[i]));
          assertEquals(expected, text(client.get(key(id))), "key " + i + " at step " + n);
        }
      }
    }
  }

  /** Puts that returned are in the store afterwards; other puts throw an exception. */
  @Test
  void aStoreThatIsClosedMeanwhileLosesNothing() throws Exception {
    for (int round = 0; round < 5; round++) {
      Path directory = data.resolve("round-" + round);
      AtomicInteger acknowledged = new AtomicInteger(-1);
      FutureTask<Throwable> putting;
      try (ErdaStore store = ErdaStore.open(directory, SMALL)) {
        ErdaClient client = store.client();
        client.handOver();
        putting = Threads.start("client", () -> putOn(client, acknowledged));
        while (acknowledged.get() < 2_000 + 500 * round && !putting.isDone()) {
          Thread.onSpinWait();
        }
      }
      Throwable end = putting.get();
      assertInstanceOf(ErdaException.class, end);
      int last = acknowledged.get();
      try (ErdaStore store = ErdaStore.open(directory, SMALL);
          ErdaClient client = store.client()) {
        for (int i = 0; i <= last; i++) {
          assertEquals(text(value(i, i)), text(client.get(key(i))), "of " + last);
        }
        boolean unknown = end instanceof ErdaException.OutcomeUnknown;
        assertTrue(unknown || client.get(key(last + 1)) == null, end::toString);
      }
    }
  }

  private static void putOn(ErdaClient client, AtomicInteger acknowledged) {
    for (int i = 0; ; i++) {
      client.put(key(i), value(i, i));
      acknowledged.set(i);
    }
  }

  @Test
  void aFullLogIsToldAndNothingIsLost() {
    ServerOptions tiny = SMALL.withHeads(1).withCapacityBytes(4 << 20).withBuckets(1 << 12);
    try (ErdaStore store = ErdaStore.open(data, tiny);
        ErdaClient client = store.client()) {
      byte[] large = new byte[4_000];
      int[] stored = {0};
      ErdaException.Full full =
          assertThrows(
              ErdaException.Full.class,
              () -> {
                while (true) {
                  client.put(key(stored[0]), large);
                  stored[0]++;
                }
              });
      assertTrue(full.getMessage().contains("full"), full::getMessage);
      assertTrue(stored[0] > 100, "only " + stored[0]);
      for (int i = 0; i < stored[0]; i++) {
        assertEquals(large.length, client.get(key(i)).length);
      }
      assertTrue(client.delete(key(0)));
      assertNull(client.get(key(0)));
    }
  }
}
