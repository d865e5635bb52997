package io.erda.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import io.erda.client.ErdaClientPool;
import io.erda.client.ErdaMap;
import io.erda.client.Serializer;
import io.erda.client.UndecodableException;
import io.erda.protocol.ErdaException;
import io.erda.testing.Threads;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Maps over pools of clients of real stores. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MapTest {
  private static final int CLIENTS = 2;
  private static final int THREADS = 4;
  private static final Serializer<Integer> NUMBERS =
      Serializer.of(
          number -> Integer.toString(number).getBytes(UTF_8),
          bytes -> Integer.valueOf(new String(bytes, UTF_8)));

  @TempDir Path data;

  private static ErdaClientPool pool(Supplier<ErdaClient> connect) {
    return new ErdaClientPool(connect, CLIENTS, ErdaClientPool.BORROW_TIMEOUT);
  }

  private static ErdaMap<String, Integer> map(ErdaClientPool pool) {
    return ErdaMap.over(pool, Serializer.utf8(), NUMBERS);
  }

  @Test
  void operationsAreThoseOfAConcurrentHashMap() {
    long seed = Long.getLong("erda.seed", System.nanoTime());
    Random random = new Random(seed);
    Map<String, Integer> expected = new ConcurrentHashMap<>();
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClientPool pool = pool(store::client)) {
      ErdaMap<String, Integer> map = map(pool);
      for (int step = 0; step < 3_000; step++) {
        String key = "k" + random.nextInt(50);
        int value = random.nextInt(3);
        int other = random.nextInt(3);
        String at = "-Derda.seed=" + seed + ", step " + step;
        switch (random.nextInt(7)) {
          case 0 -> assertEquals(expected.get(key), map.get(key), at);
          case 1 -> assertEquals(expected.put(key, value), map.put(key, value), at);
          case 2 -> assertEquals(expected.remove(key), map.remove(key), at);
          case 3 -> assertEquals(expected.putIfAbsent(key, value), map.putIfAbsent(key, value), at);
          case 4 -> assertEquals(expected.remove(key, value), map.remove(key, value), at);
          case 5 ->
              assertEquals(expected.replace(key, value, other), map.replace(key, value, other), at);
          default ->
              assertEquals(
                  expected.merge(key, value, (a, b) -> a + b > 5 ? null : a + b),
                  map.merge(key, value, (a, b) -> a + b > 5 ? null : a + b),
                  at);
        }
        if (step % 300 == 0) {
          assertEquals(expected, map, at);
          assertEquals(expected.size(), map.size(), at);
        }
      }
      map.clear();
      assertTrue(map.isEmpty());
    }
  }

  @Test
  void twoPoolsOfOneServerCountTogether() throws Exception {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaClientPool one = ErdaClientPool.of(server.uri(), CLIENTS);
        ErdaClientPool two = ErdaClientPool.of(server.uri(), CLIENTS)) {
      List<FutureTask<Throwable>> users = new ArrayList<>();
      for (int user = 0; user < THREADS; user++) {
        ErdaMap<String, Integer> map = map(user % 2 == 0 ? one : two);
        users.add(
            Threads.start(
                "user",
                () -> {
                  for (int i = 0; i < 1_000; i++) {
                    map.merge("count", 1, Integer::sum);
                    map.compute("other", (key, now) -> now == null ? 1 : now + 1);
                  }
                }));
      }
      for (FutureTask<Throwable> user : users) {
        assertNull(user.get());
      }
      assertEquals(THREADS * 1_000, map(one).get("count"));
      assertEquals(THREADS * 1_000, map(two).get("other"));
    }
  }

  /** Any number of abandoned iterators leaves the pool its clients. */
  @Test
  void iteratorsMayBeLeft() {
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClientPool pool = pool(store::client)) {
      ErdaMap<String, Integer> map = map(pool);
      for (int i = 0; i < 100; i++) {
        map.set("key" + i, i);
      }
      List<Iterator<String>> left = new ArrayList<>();
      for (int i = 0; i < 10 * CLIENTS; i++) {
        left.add(map.keySet().iterator());
        left.getLast().next();
      }
      assertEquals(100, map.size());
      assertEquals(7, map.put("key7", 8));
      left.getFirst().remove();
      assertEquals(99, map.size());
    }
  }

  /** A borrower's client has no cursor of an earlier borrower. */
  @Test
  void aCursorEndsWhenItsClientIsGivenBack() {
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClientPool pool = new ErdaClientPool(store::client, 1, ErdaClientPool.BORROW_TIMEOUT)) {
      ErdaMap<String, Integer> map = map(pool);
      map.set("a", 1);
      var open = pool.with(ErdaClient::keys);
      assertEquals(1, map.size());
      assertThrows(IllegalStateException.class, open::next);
    }
  }

  @Test
  void whatIsNoTextIsRefused() {
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClientPool pool = pool(store::client)) {
      ErdaMap<String, Integer> map = map(pool);
      assertThrows(ErdaException.BadArgument.class, () -> map.put("half \ud800", 1));
      assertFalse(map.containsKey("half ?"));
      pool.put(new byte[] {(byte) 0xff}, new byte[] {'1'});
      Throwable thrown =
          assertThrows(UndecodableException.class, () -> map.keySet().iterator().next());
      assertTrue(thrown.getCause() instanceof UncheckedIOException, thrown::toString);
    }
  }

  @Test
  void functionsDoNotChangeTheirKeyThroughAnotherPool() {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaClientPool one = ErdaClientPool.of(server.uri(), CLIENTS);
        ErdaClientPool two = ErdaClientPool.of(server.uri(), CLIENTS)) {
      int[] calls = {0};
      assertThrows(
          IllegalStateException.class,
          () ->
              map(one)
                  .compute(
                      "a",
                      (key, now) -> {
                        assertTrue(calls[0] < 10, "it goes round and round");
                        return map(two).merge("a", ++calls[0], Integer::sum);
                      }));
    }
  }
}
