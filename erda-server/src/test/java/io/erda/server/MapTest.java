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
import java.util.AbstractMap.SimpleEntry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.FutureTask;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
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

  /** Found by a review: {@code keySet().removeAll} of a longer key, and the like, threw BadSize. */
  @Test
  void aKeyThatTheStoreDoesNotTakeIsInNoView() {
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClientPool pool = pool(store::client)) {
      ErdaMap<String, Integer> map = map(pool);
      for (String bad : List.of("", "k".repeat(1 << 20))) {
        map.set("a", 1);
        map.set("b", 2);
        assertNull(map.get(bad));
        assertFalse(map.containsKey(bad));
        assertEquals(3, map.getOrDefault(bad, 3));
        assertNull(map.remove(bad));
        assertFalse(map.remove(bad, 1));
        assertFalse(map.delete(bad));
        assertNull(map.replace(bad, 1));
        assertFalse(map.replace(bad, 1, 2));
        assertNull(map.computeIfPresent(bad, (key, now) -> 1));
        assertNull(map.computeIfAbsent(bad, key -> null));
        assertNull(map.compute(bad, (key, now) -> null));

        assertFalse(map.keySet().contains(bad));
        assertFalse(map.keySet().containsAll(List.of("a", bad)));
        assertFalse(map.keySet().remove(bad));
        assertTrue(map.keySet().removeAll(List.of(bad, "a")));
        assertFalse(map.keySet().retainAll(List.of(bad, "b")));
        assertFalse(map.keySet().equals(Set.of(bad)));
        assertFalse(map.entrySet().contains(Map.entry(bad, 2)));
        assertFalse(map.entrySet().containsAll(List.of(Map.entry("b", 2), Map.entry(bad, 2))));
        assertFalse(map.entrySet().remove(Map.entry(bad, 2)));
        assertFalse(map.entrySet().removeAll(List.of(Map.entry(bad, 2))));
        assertFalse(map.equals(Map.of(bad, 2)));
        assertFalse(Map.of(bad, 2).equals(map));
        assertEquals(Map.of("b", 2), map);

        assertThrows(ErdaException.BadSize.class, () -> map.set(bad, 1));
        assertThrows(ErdaException.BadSize.class, () -> map.put(bad, 1));
        assertThrows(ErdaException.BadSize.class, () -> map.putIfAbsent(bad, 1));
        assertThrows(ErdaException.BadSize.class, () -> map.merge(bad, 1, Integer::sum));
        assertThrows(ErdaException.BadSize.class, () -> map.computeIfAbsent(bad, key -> 1));
        assertEquals(Map.of("b", 2), map);
      }
    }
  }

  @Test
  void aValueThatTheStoreDoesNotTakeIsInNoView() {
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClientPool pool = pool(store::client)) {
      ErdaMap<String, String> map = ErdaMap.over(pool, Serializer.utf8(), Serializer.utf8());
      map.set("a", "1");
      String bad = "v".repeat(1 << 20);
      assertFalse(map.containsValue(bad));
      assertFalse(map.remove("a", bad));
      assertFalse(map.replace("a", bad, "2"));
      assertFalse(map.replace("b", bad, bad));
      assertFalse(map.values().contains(bad));
      assertFalse(map.values().containsAll(List.of("1", bad)));
      assertFalse(map.values().remove(bad));
      assertFalse(map.values().removeAll(List.of(bad)));
      assertFalse(map.values().retainAll(List.of("1", bad)));
      assertFalse(map.entrySet().contains(Map.entry("a", bad)));
      assertFalse(map.entrySet().remove(Map.entry("a", bad)));
      assertThrows(ErdaException.BadSize.class, () -> map.put("a", bad));
      assertThrows(ErdaException.BadSize.class, () -> map.replace("a", bad));
      assertThrows(ErdaException.BadSize.class, () -> map.replace("a", "1", bad));
      assertEquals(Map.of("a", "1"), map);
    }
  }

  /** Where a null argument throws, and where it is only not found. */
  @Test
  void aNullIsTreatedAsByAConcurrentHashMap() {
    try (ErdaStore store = ErdaStore.open(data, SmallStore.OPTIONS);
        ErdaClientPool pool = pool(store::client)) {
      ErdaMap<String, Integer> map = map(pool);
      List<Function<Map<String, Integer>, Object>> calls =
          List.of(
              each -> each.get(null),
              each -> each.containsKey(null),
              each -> each.containsValue(null),
              each -> each.remove(null),
              each -> each.remove("a", null),
              each -> each.remove(null, 1),
              each -> each.replace("a", null, 1),
              each -> each.keySet().contains(null),
              each -> each.keySet().containsAll(Arrays.asList("a", null)),
              each -> each.keySet().remove(null),
              each -> each.keySet().removeAll(Arrays.asList("x", null)),
              each -> each.keySet().retainAll(Arrays.asList("a", null)),
              each -> each.values().contains(null),
              each -> each.values().containsAll(Arrays.asList(1, null)),
              each -> each.values().remove(null),
              each -> each.values().removeAll(Arrays.asList(7, null)),
              each -> each.values().retainAll(Arrays.asList(1, null)),
              each -> each.entrySet().contains(null),
              each -> each.entrySet().containsAll(Arrays.asList(Map.entry("a", 1), null)),
              each -> each.entrySet().remove(null),
              each -> each.entrySet().removeAll(Arrays.asList(Map.entry("x", 1), null)),
              each -> each.entrySet().remove(new SimpleEntry<>(null, 1)),
              each -> each.entrySet().remove(new SimpleEntry<>("a", null)),
              each -> each.entrySet().contains(new SimpleEntry<>("a", null)));
      for (int i = 0; i < calls.size(); i++) {
        Map<String, Integer> expected = new ConcurrentHashMap<>(Map.of("a", 1));
        map.clear();
        map.set("a", 1);
        assertEquals(outcome(calls.get(i), expected), outcome(calls.get(i), map), "call " + i);
        assertEquals(expected, map, "call " + i);
      }
    }
  }

  private static Object outcome(
      Function<Map<String, Integer>, Object> call, Map<String, Integer> map) {
    try {
      return String.valueOf(call.apply(map));
    } catch (NullPointerException e) {
      return NullPointerException.class;
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

  /** Found by a tester: the pool does not know its store yet, and the function ran for ever. */
  @Test
  void functionsDoNotChangeTheirKeyThroughAPoolThatHasNotConnected() {
    try (ErdaServer server = ErdaServer.start(data, SmallStore.OPTIONS);
        ErdaClientPool known = ErdaClientPool.of(server.uri(), CLIENTS)) {
      List<Consumer<ErdaMap<String, Integer>>> changes =
          List.of(
              fresh -> fresh.set("a", 1),
              fresh -> fresh.put("a", 1),
              fresh -> fresh.delete("a"),
              fresh -> fresh.keySet().remove("a"),
              fresh -> fresh.putAll(Map.of("b", 1, "a", 1)),
              fresh -> fresh.merge("a", 1, Integer::sum),
              fresh -> fresh.clear());
      List<BiConsumer<ErdaMap<String, Integer>, Runnable>> updates =
          List.of(
              (map, change) -> map.compute("a", (key, now) -> changed(change)),
              (map, change) -> map.merge("a", 1, (one, two) -> changed(change)),
              (map, change) -> map.computeIfPresent("a", (key, now) -> changed(change)),
              (map, change) -> map.replaceAll((key, now) -> changed(change)));
      for (Consumer<ErdaMap<String, Integer>> change : changes) {
        map(known).set("a", 0);
        for (BiConsumer<ErdaMap<String, Integer>, Runnable> update : updates) {
          assertRecursive(() -> update.accept(map(known), once(server.uri(), change)));
          assertEquals(Map.of("a", 0), map(known));
        }
      }
      map(known).clear();
      for (Consumer<ErdaMap<String, Integer>> change : changes.subList(0, 2)) {
        Runnable freshly = once(server.uri(), change);
        assertRecursive(() -> map(known).computeIfAbsent("a", key -> changed(freshly)));
        assertTrue(map(known).isEmpty());
      }
      map(known).computeIfAbsent("a", key -> changed(once(server.uri(), map -> map.set("b", 2))));
      assertEquals(Map.of("a", 7, "b", 2), map(known), "other keys may be changed");
    }
  }

  private static void assertRecursive(Executable call) {
    IllegalStateException thrown = assertThrows(IllegalStateException.class, call);
    assertEquals("Recursive update", thrown.getMessage());
  }

  private static Integer changed(Runnable change) {
    change.run();
    return 7;
  }

  /** Makes a change through a pool of its own, which connects for it; fails when it is repeated. */
  private static Runnable once(String uri, Consumer<ErdaMap<String, Integer>> change) {
    int[] calls = {0};
    return () -> {
      assertEquals(1, ++calls[0], "calls");
      try (ErdaClientPool fresh = ErdaClientPool.of(uri, 1)) {
        change.accept(map(fresh));
      }
    };
  }
}
