package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.client.ErdaClientPool;
import io.erda.client.KeyCursor;
import io.erda.protocol.ErdaException;
import io.erda.protocol.PutMode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Iterations over a store that a server serves, while it grows, becomes smaller, is overwritten and
 * is restarted.
 */
@Timeout(300)
class IterationTest {
  private static final long SEED = Long.getLong("erda.seed", 20261123L);
  private static final int STAYING = 2000;
  private static final int VALUE_BYTES_MAX = 800;

  /** New keys for each so many that the cursor gives. */
  private static final int GROWTH = 30;

  private static final ServerOptions OPTIONS =
      ServerOptions.DEFAULTS
          .withHeads(2)
          .withRegionBytes(1 << 20)
          .withSegmentBytes(1 << 18)
          .withCapacityBytes(1 << 27)
          .withBuckets(1 << 10);

  /** For a table that shrinks: the keys to delete, and after how many it is halved. */
  private static final int GOING = 9000;

  private static final int[] DELETED = {7300, 8200, GOING};

  /** Keys that stay, of which so many are given when so many others are to be deleted. */
  private static final int[] GIVEN = {10, 30, 90};

  private static final int STAYING_IN_LARGE = 300;

  /** It begins small, and is halved down to that again. */
  private static final ServerOptions SMALL = OPTIONS.withBuckets(64);

  @TempDir Path data;

  private final AtomicInteger added = new AtomicInteger();
  private volatile boolean over;

  /** Keys that may be deleted by now. */
  private volatile int deletable;

  private volatile Throwable failed;

  /** Reached zero when the thread that deletes has connected, which needs a server. */
  private final CountDownLatch connected = new CountDownLatch(1);

  private static byte[] staying(int i) {
    return ("stays " + i).getBytes(UTF_8);
  }

  /** Adds keys, overwrites those that stay, puts and deletes others. */
  private void write(String uri) {
    Random random = new Random(SEED);
    try (ErdaClient erda = ErdaClient.connect(uri)) {
      while (!over) {
        try {
          int next = added.get();
          erda.put(("new " + next).getBytes(UTF_8), new byte[8]);
          erda.put(staying(random.nextInt(STAYING)), new byte[random.nextInt(VALUE_BYTES_MAX)]);
          byte[] other = ("comes and goes " + random.nextInt(500)).getBytes(UTF_8);
          if (random.nextBoolean()) {
            erda.put(other, new byte[20]);
          } else {
            erda.delete(other);
          }
          added.set(next + 1);
        } catch (ErdaException.Unavailable | ErdaException.OutcomeUnknown e) {
          // The server is restarted: the keys are put again.
        }
      }
    } catch (RuntimeException e) {
      failed = e;
    }
  }

  private static byte[] going(int i) {
    return ("goes " + i).getBytes(UTF_8);
  }

  /** Deletes keys up to where it may, and overwrites those that stay. */
  private void delete(String uri) {
    Random random = new Random(SEED);
    int deleted = 0;
    try (ErdaClient erda = ErdaClient.connect(uri)) {
      connected.countDown();
      while (!over) {
        try {
          erda.put(
              staying(random.nextInt(STAYING_IN_LARGE)), new byte[random.nextInt(VALUE_BYTES_MAX)]);
          for (int end = Math.min(deletable, deleted + 100); deleted < end; deleted++) {
            erda.delete(going(deleted));
          }
        } catch (ErdaException.Unavailable | ErdaException.OutcomeUnknown e) {
          // The server is restarted: the key is deleted again.
        }
      }
    } catch (RuntimeException e) {
      failed = e;
    }
  }

  private void awaitAdded(int keys) throws InterruptedException {
    while (added.get() < keys && failed == null) {
      Thread.sleep(1);
    }
  }

  @ParameterizedTest
  @EnumSource(PutMode.class)
  void keysThatStayAreGivenOnceWhileTheTableDoublesAndTheLogIsCleaned(PutMode mode)
      throws Exception {
    iterate(mode, false, 1500, IterationTest::ofClient);
  }

  @ParameterizedTest
  @EnumSource(PutMode.class)
  void anIterationThatGoesFromClientToClientGivesThemOnceToo(PutMode mode) throws Exception {
    iterate(mode, false, 1500, IterationTest::ofPool);
  }

  @ParameterizedTest
  @EnumSource(PutMode.class)
  void norOneThatGoesFromClientToClient(PutMode mode) throws Exception {
    iterate(mode, true, 200, IterationTest::ofPool);
  }

  @ParameterizedTest
  @EnumSource(PutMode.class)
  void aRestartOfTheServerDoesNotEndIt(PutMode mode) throws Exception {
    iterate(mode, true, 200, IterationTest::ofClient);
  }

  /** An iteration: gives keys, null behind the last one. */
  private record Iteration(Supplier<byte[]> nextKey, Runnable end) {}

  private static Iteration ofClient(String uri) {
    ErdaClient erda = ErdaClient.connect(uri);
    KeyCursor keys = erda.keys();
    return new Iteration(() -> keys.next() ? keys.key() : null, erda::close);
  }

  private static Iteration ofPool(String uri) {
    ErdaClientPool pool = ErdaClientPool.of(uri, 3);
    Iterator<byte[]> keys = pool.keys();
    return new Iteration(
        () -> {
          try (ErdaClientPool.Lent another = pool.borrow()) {
            assertNotNull(another.client().storeId());
            return keys.hasNext() ? keys.next() : null;
          }
        },
        pool::close);
  }

  private void iterate(
      PutMode mode, boolean restarts, int pausesEvery, Function<String, Iteration> iteration)
      throws Exception {
    ServerOptions options = OPTIONS.withPutMode(mode);
    List<ErdaServer> servers = new ArrayList<>();
    servers.add(ErdaServer.start(data, options));
    String uri = servers.getFirst().uri();
    try (ErdaClient filling = ErdaClient.connect(uri)) {
      for (int i = 0; i < STAYING; i++) {
        filling.put(staying(i), new byte[100]);
      }
    }
    Thread writer = new Thread(() -> write(uri), "writer");
    Set<String> given = new HashSet<>();
    writer.start();
    Iteration iterating = iteration.apply(uri);
    try (ErdaClient erda = ErdaClient.connect(uri)) {
      try {
        int goal = 0;
        byte[] next;
        for (int count = 0; (next = iterating.nextKey().get()) != null; count++) {
          String key = new String(next, UTF_8);
          assertTrue(given.add(key), () -> key + " was given twice; seed " + SEED);
          if (key.startsWith("stays") && given.size() % 2 == 0) {
            goal = Math.min(goal + GROWTH, 20_000);
            awaitAdded(goal);
          }
          if (restarts && count % pausesEvery == pausesEvery - 1 && servers.size() < 6) {
            servers.getLast().close();
            servers.add(ErdaServer.start(data, options));
          }
        }
      } finally {
        iterating.end().run();
      }
      over = true;
      writer.join();
      Map<String, Long> figures = erda.stats();
      assertTrue(figures.get("table.buckets") >= 1 << 14, figures::toString);
      assertTrue(restarts || figures.get("cleaner.cleanings") > 5, figures::toString);
      assertEquals(null, failed);
      for (int i = 0; i < STAYING; i++) {
        String key = new String(staying(i), UTF_8);
        assertTrue(given.contains(key), () -> key + " was not given; seed " + SEED);
      }
      // From here on nothing changes, so the iteration gives every key.
      int all = 0;
      try (KeyCursor keys = erda.keys()) {
        while (keys.next()) {
          assertEquals(keys.value().length, erda.get(keys.key()).length);
          all++;
        }
      }
      assertTrue(all >= STAYING + added.get(), all + " keys, " + added.get() + " were added");
    } finally {
      over = true;
      writer.join();
      servers.getLast().close();
    }
  }

  @ParameterizedTest
  @EnumSource(PutMode.class)
  void keysThatStayAreGivenOnceWhileTheTableBecomesSmaller(PutMode mode) throws Exception {
    iterateWhileItShrinks(mode, false, IterationTest::ofClient);
  }

  @ParameterizedTest
  @EnumSource(PutMode.class)
  void andWhereAnIterationGoesFromClientToClient(PutMode mode) throws Exception {
    iterateWhileItShrinks(mode, false, IterationTest::ofPool);
  }

  @ParameterizedTest
  @EnumSource(PutMode.class)
  void andWhereTheServerIsRestartedInTheMiddle(PutMode mode) throws Exception {
    iterateWhileItShrinks(mode, true, IterationTest::ofClient);
  }

  /**
   * When the iteration has given a few of the keys that stay, most others are deleted, and the
   * table is halved; and so on, three times. The iteration goes on during that, and ends after the
   * last halving.
   */
  private void iterateWhileItShrinks(
      PutMode mode, boolean restarts, Function<String, Iteration> iteration) throws Exception {
    ServerOptions options = SMALL.withPutMode(mode);
    ErdaServer server = ErdaServer.start(data, options);
    String uri = server.uri();
    Thread deleting = new Thread(() -> delete(uri), "deleting");
    Set<String> given = new HashSet<>();
    long halvings = 0;
    try (ErdaClient erda = ErdaClient.connect(uri)) {
      for (int i = 0; i < GOING; i++) {
        erda.put(going(i), new byte[20]);
      }
      for (int i = 0; i < STAYING_IN_LARGE; i++) {
        erda.put(staying(i), new byte[100]);
      }
      assertEquals(1 << 15, erda.stats().get("table.buckets"));
      deleting.start();
      assertTrue(connected.await(30, TimeUnit.SECONDS), "no client of the thread that deletes");
      Iteration iterating = iteration.apply(uri);
      try {
        int stayed = 0;
        byte[] next;
        while ((next = iterating.nextKey().get()) != null) {
          String key = new String(next, UTF_8);
          assertTrue(given.add(key), () -> key + " was given twice; seed " + SEED);
          stayed += key.startsWith("stays") ? 1 : 0;
          for (int i = 0; i < GIVEN.length; i++) {
            if (key.startsWith("stays") && stayed == GIVEN[i]) {
              deletable = DELETED[i];
              halvings += restarts ? erda.stats().get("table.halvings") : 0;
              server = restarts && i < GIVEN.length - 1 ? restarted(server, options) : server;
            }
          }
          if (key.startsWith("stays") && stayed == STAYING_IN_LARGE / 2) {
            awaitBuckets(erda, 1 << 12);
          }
        }
      } finally {
        iterating.end().run();
      }
      // The last halving may still be under way: one is counted when it has ended.
      awaitNoHalving(erda);
      halvings += erda.stats().get("table.halvings");
      assertEquals(null, failed);
      assertTrue(halvings >= GIVEN.length, halvings + " halvings");
      for (int i = 0; i < STAYING_IN_LARGE; i++) {
        String key = new String(staying(i), UTF_8);
        assertTrue(given.contains(key), () -> key + " was not given; seed " + SEED);
      }
    } finally {
      over = true;
      deleting.join();
      server.close();
    }
  }

  private ErdaServer restarted(ErdaServer server, ServerOptions options) {
    server.close();
    return ErdaServer.start(data, options);
  }

  private void awaitNoHalving(ErdaClient erda) throws InterruptedException {
    while (erda.stats().get("table.halving") != 0 && failed == null) {
      Thread.sleep(1);
    }
  }

  private void awaitBuckets(ErdaClient erda, long buckets) throws InterruptedException {
    while (erda.stats().get("table.buckets") > buckets && failed == null) {
      Thread.sleep(1);
    }
  }
}
