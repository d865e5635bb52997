package io.erda.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.testing.Threads;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

/** The map over a store in memory. */
class ErdaMapTest {
  private static final Serializer<Integer> NUMBERS =
      Serializer.of(
          number -> Integer.toString(number).getBytes(UTF_8),
          bytes -> Integer.valueOf(new String(bytes, UTF_8)));

  private final MemoryStore store = new MemoryStore();
  private final ErdaMap<String, Integer> map = new ErdaMap<>(store, Serializer.utf8(), NUMBERS);

  /** Any thread may change it; before each atomic change somebody else may be faster. */
  private static final class MemoryStore implements MapStore {
    private final TreeMap<String, byte[]> entries = new TreeMap<>();
    Runnable beforeChange = () -> {};

    private static String text(byte[] bytes) {
      return new String(bytes, UTF_8);
    }

    @Override
    public synchronized byte[] get(byte[] key) {
      byte[] now = entries.get(text(key));
      return now == null ? null : now.clone();
    }

    @Override
    public List<byte[]> getAll(List<byte[]> keys) {
      List<byte[]> values = new ArrayList<>();
      keys.forEach(key -> values.add(get(key)));
      return values;
    }

    @Override
    public synchronized void put(byte[] key, byte[] value) {
      entries.put(text(key), value);
    }

    @Override
    public void putAll(List<byte[]> keys, List<byte[]> values) {
      for (int i = 0; i < keys.size(); i++) {
        put(keys.get(i), values.get(i));
      }
    }

    private void othersFirst() {
      Runnable once = beforeChange;
      beforeChange = () -> {};
      once.run();
    }

    @Override
    public synchronized boolean putIfAbsent(byte[] key, byte[] value) {
      othersFirst();
      return entries.putIfAbsent(text(key), value) == null;
    }

    private boolean has(byte[] key, byte[] wanted) {
      othersFirst();
      return Arrays.equals(entries.get(text(key)), wanted);
    }

    @Override
    public synchronized boolean compareAndSet(byte[] key, byte[] wanted, byte[] value) {
      boolean has = has(key, wanted);
      if (has) {
        put(key, value);
      }
      return has;
    }

    @Override
    public synchronized boolean delete(byte[] key) {
      return entries.remove(text(key)) != null;
    }

    @Override
    public synchronized boolean compareAndDelete(byte[] key, byte[] wanted) {
      return has(key, wanted) && delete(key);
    }

    @Override
    public synchronized Iterator<byte[]> keys() {
      return entries.keySet().stream().map(key -> key.getBytes(UTF_8)).toList().iterator();
    }
  }

  /** One, two, nothing. */
  private static Integer counted(Integer now) {
    if (now == null) {
      return 1;
    }
    return now == 2 ? null : Integer.valueOf(now + 1);
  }

  @Test
  void operationsAreThoseOfAMap() {
    long seed = Long.getLong("erda.seed", 31);
    Random random = new Random(seed);
    Map<String, Integer> expected = new ConcurrentHashMap<>();
    for (int step = 0; step < 20_000; step++) {
      String key = "k" + random.nextInt(20);
      int value = random.nextInt(3);
      int other = random.nextInt(3);
      String at = "-Derda.seed=" + seed + ", step " + step;
      switch (random.nextInt(13)) {
        case 0 -> assertEquals(expected.get(key), map.get(key), at);
        case 1 -> assertEquals(expected.put(key, value), map.put(key, value), at);
        case 2 -> assertEquals(expected.remove(key), map.remove(key), at);
        case 3 -> assertEquals(expected.putIfAbsent(key, value), map.putIfAbsent(key, value), at);
        case 4 -> assertEquals(expected.remove(key, value), map.remove(key, value), at);
        case 5 -> assertEquals(expected.replace(key, value), map.replace(key, value), at);
        case 6 ->
            assertEquals(expected.replace(key, value, other), map.replace(key, value, other), at);
        case 7 -> {
          Integer made = other == 0 ? null : value;
          assertEquals(
              expected.computeIfAbsent(key, k -> made), map.computeIfAbsent(key, k -> made), at);
        }
        case 8 -> {
          Integer made = other == 0 ? null : value;
          assertEquals(
              expected.computeIfPresent(key, (k, now) -> made),
              map.computeIfPresent(key, (k, now) -> made),
              at);
        }
        case 9 ->
            assertEquals(
                expected.compute(key, (k, now) -> counted(now)),
                map.compute(key, (k, now) -> counted(now)),
                at);
        case 10 ->
            assertEquals(
                expected.merge(key, value, (a, b) -> a + b > 5 ? null : a + b),
                map.merge(key, value, (a, b) -> a + b > 5 ? null : a + b),
                at);
        case 11 -> {
          expected.put(key, value);
          map.set(key, value);
        }
        default -> assertEquals(expected.containsKey(key), map.containsKey(key), at);
      }
      if (step % 500 == 0) {
        assertEquals(expected, map, at);
        assertEquals(expected.hashCode(), map.hashCode(), at);
        assertEquals(expected.size(), map.size(), at);
        assertEquals(expected.containsValue(value), map.containsValue(value), at);
        assertEquals(expected.isEmpty(), map.isEmpty(), at);
      }
    }
  }

  /** A change of somebody else between look and change was lost, or was told as one's own. */
  @Test
  void whoeverIsSlowerBeginsAnew() {
    map.set("a", 1);
    store.beforeChange = () -> map.set("a", 2);
    assertEquals(2, map.put("a", 3));
    store.beforeChange = () -> map.delete("a");
    assertNull(map.put("a", 4));
    store.beforeChange = () -> map.set("a", 5);
    assertEquals(5, map.remove("a"));
    store.beforeChange = () -> map.set("a", 6);
    assertEquals(6, map.putIfAbsent("a", 7));
    store.beforeChange = () -> map.set("a", 7);
    assertFalse(map.remove("a", 6));
    store.beforeChange = () -> map.set("a", 7);
    assertTrue(map.replace("a", 7, 8), "an equal value is as good, whoever stored it");
    store.beforeChange = () -> map.set("a", 1);
    assertFalse(map.replace("a", 8, 9));
    store.beforeChange = () -> map.delete("a");
    assertNull(map.replace("a", 9));
    store.beforeChange = () -> map.set("a", 20);
    assertEquals(20, map.computeIfAbsent("a", k -> 10));
    store.beforeChange = () -> map.set("a", 30);
    assertEquals(31, map.compute("a", (k, now) -> now + 1));
    store.beforeChange = () -> map.delete("a");
    assertEquals(1, map.merge("a", 1, Integer::sum));
    store.beforeChange = () -> map.set("a", 40);
    assertNull(map.computeIfPresent("a", (k, now) -> now == 40 ? null : now), "40 was seen");
    assertNull(map.get("a"));
  }

  @Test
  void threadsCountTogether() throws Exception {
    List<FutureTask<Throwable>> users = new ArrayList<>();
    for (int user = 0; user < 4; user++) {
      users.add(
          Threads.start(
              "user",
              () -> {
                for (int i = 0; i < 5_000; i++) {
                  map.merge("count", 1, Integer::sum);
                }
              }));
    }
    for (FutureTask<Throwable> user : users) {
      assertNull(user.get());
    }
    assertEquals(20_000, map.get("count"));
  }

  @Test
  void entriesAreAView() {
    Map<String, Integer> many = new HashMap<>();
    for (int i = 0; i < 100; i++) {
      many.put("key" + i, i);
    }
    map.putAll(many);
    assertEquals(many, map);
    assertEquals(many.keySet(), map.keySet());
    Iterator<Map.Entry<String, Integer>> iterator = map.entrySet().iterator();
    assertThrows(IllegalStateException.class, iterator::remove);
    int seen = 0;
    while (iterator.hasNext()) {
      Map.Entry<String, Integer> each = iterator.next();
      seen++;
      if (each.getValue() % 2 == 0) {
        iterator.remove();
        assertThrows(IllegalStateException.class, iterator::remove);
      } else {
        assertEquals(seen > 0 ? each.getValue() : null, each.setValue(-each.getValue()));
      }
    }
    assertThrows(NoSuchElementException.class, iterator::next);
    assertEquals(100, seen);
    assertEquals(50, map.size());
    assertEquals(-99, map.get("key99"));
    assertTrue(map.entrySet().contains(Map.entry("key99", -99)));
    assertFalse(map.entrySet().remove(Map.entry("key99", 99)));
    assertTrue(map.entrySet().remove(Map.entry("key99", -99)));
    assertTrue(map.keySet().remove("key1"));
    assertEquals(48, map.size());
    map.clear();
    assertTrue(map.isEmpty());
  }

  @Test
  void entriesThatAreGoneMeanwhileArePassedOver() {
    for (int i = 0; i < 40; i++) {
      map.set("key" + i, i);
    }
    Iterator<Map.Entry<String, Integer>> iterator = map.entrySet().iterator();
    iterator.next();
    map.clear();
    int left = 0;
    while (iterator.hasNext()) {
      iterator.next();
      left++;
    }
    assertTrue(left < 16, "those that were fetched with the first: " + left);
  }

  @Test
  void nullsAreRefused() {
    assertThrows(NullPointerException.class, () -> map.get(null));
    assertThrows(NullPointerException.class, () -> map.put("a", null));
    assertThrows(NullPointerException.class, () -> map.put(null, 1));
    assertThrows(NullPointerException.class, () -> map.merge("a", null, Integer::sum));
    assertFalse(map.remove("a", null));
    assertTrue(map.isEmpty());
  }
}
