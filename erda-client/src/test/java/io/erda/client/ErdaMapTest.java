package io.erda.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.shared.MapStore;
import io.erda.protocol.ErdaException;
import io.erda.testing.Threads;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.Set;
import java.util.Spliterator;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The map over a store in memory. */
class ErdaMapTest {
  private static final Serializer<Integer> NUMBERS =
      Serializer.of(
          number -> Integer.toString(number).getBytes(UTF_8),
          bytes -> Integer.valueOf(new String(bytes, UTF_8)));

  private final MemoryStore store = new MemoryStore();
  private final ErdaMap<String, Integer> map = new ErdaMap<>(store, Serializer.utf8(), NUMBERS);

  /**
   * Any thread may change it; before each atomic change another thread may change the key first.
   */
  private static final class MemoryStore implements MapStore {
    private final TreeMap<String, byte[]> entries = new TreeMap<>();
    Runnable beforeChange = () -> {};

    /** How many values were read, and how many keys an iteration was asked for. */
    int gets;

    int keysAsked;

    /** Whether reads fail, as when the server is gone. */
    boolean unavailable;

    /** As {@link #unavailable}, for values only: the keys are known already. */
    boolean unavailableValues;

    private void requireAvailable() {
      if (unavailable) {
        throw new ErdaException.Unavailable("gone");
      }
    }

    private static String text(byte[] bytes) {
      return new String(bytes, UTF_8);
    }

    @Override
    public Object identity() {
      return this;
    }

    @Override
    public synchronized byte[] get(byte[] key) {
      if (unavailable || unavailableValues) {
        throw new ErdaException.Unavailable("gone");
      }
      gets++;
      byte[] now = entries.get(text(key));
      return now == null ? null : now.clone();
    }

    @Override
    public List<byte[]> getAll(List<byte[]> keys) {
      List<byte[]> values = new ArrayList<>();
      ErdaException[] errors = new ErdaException[keys.size()];
      for (byte[] key : keys) {
        try {
          values.add(get(key));
        } catch (ErdaException e) {
          errors[values.size()] = e;
          values.add(null);
        }
      }
      BatchException.throwIfAny(
          (int) Arrays.stream(errors).filter(each -> each != null).count(), errors);
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
      Iterator<String> left = List.copyOf(entries.keySet()).iterator();
      return new Iterator<>() {
        @Override
        public boolean hasNext() {
          requireAvailable();
          return left.hasNext();
        }

        @Override
        public byte[] next() {
          requireAvailable();
          keysAsked++;
          return left.next().getBytes(UTF_8);
        }
      };
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

  /** Values are fetched in batches, which whoever iterates does not know of. */
  @Test
  void anIterationThrowsTheExceptionOfAnOperationAndGoesOn() {
    for (int i = 0; i < 10; i++) {
      map.set("k" + i, i);
    }
    List<String> seen = new ArrayList<>();
    Iterator<Map.Entry<String, Integer>> entries = map.entrySet().iterator();
    for (int i = 0; i < 4; i++) {
      seen.add(entries.next().getKey());
    }
    store.unavailableValues = true;
    Executable rest = () -> entries.forEachRemaining(each -> seen.add(each.getKey()));
    assertThrows(ErdaException.Unavailable.class, rest);
    store.unavailableValues = false;
    entries.forEachRemaining(each -> seen.add(each.getKey()));
    assertEquals(List.copyOf(map.keySet()), seen);
  }

  /**
   * Another thread's change between read and write was lost, or was reported as the caller's own.
   */
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
  void noValueIsNullAsInAConcurrentHashMap() {
    map.set("a", 1);
    for (Map<String, Integer> each : List.of(map, new ConcurrentHashMap<>(map))) {
      assertThrows(NullPointerException.class, () -> each.containsValue(null));
      assertThrows(NullPointerException.class, () -> each.values().contains(null));
    }
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

  /** Found by a tester: the entry before the one that was wanted was removed. */
  @Test
  void anIteratorThatCameToNoEntryRemovesNone() {
    for (Collection<?> view : List.of(map.keySet(), map.values(), map.entrySet())) {
      map.putAll(Map.of("a", 1, "b", 2, "c", 3));
      Iterator<?> iterator = view.iterator();
      iterator.next();
      store.unavailable = true;
      assertThrows(RuntimeException.class, iterator::next);
      store.unavailable = false;
      assertThrows(IllegalStateException.class, iterator::remove);
      assertEquals(Map.of("a", 1, "b", 2, "c", 3), map);
      iterator.next();
      iterator.remove();
      assertEquals(Map.of("a", 1, "c", 3), map, "it goes on where it stopped");
      iterator.next();
      assertThrows(NoSuchElementException.class, iterator::next);
      iterator.remove();
      assertEquals(Map.of("a", 1), map, "at the end the last entry is still the one to remove");
    }
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

  // Removals and replacements of values that were read.

  private void expired() {
    map.set("a", -1);
  }

  /** Stands for another thread, which stores another value as soon as this one was looked at. */
  private boolean refreshed(int seen) {
    assertEquals(-1, seen);
    map.set("a", 1);
    return true;
  }

  /** A set that contains all elements or none, and refreshes the map at each call. */
  private final class RefreshingSet extends AbstractSet<Object> {
    private final boolean has;

    RefreshingSet(boolean has) {
      this.has = has;
    }

    @Override
    public boolean contains(Object asked) {
      refreshed((Integer) (asked instanceof Map.Entry<?, ?> entry ? entry.getValue() : asked));
      return has;
    }

    @Override
    public Iterator<Object> iterator() {
      throw new UnsupportedOperationException();
    }

    @Override
    public int size() {
      return 1;
    }
  }

  @Test
  void bulkRemovalsRemoveWhatTheySawAndNothingElse() {
    Map<String, BooleanSupplier> removals =
        Map.of(
            "entrySet().removeIf",
            () -> map.entrySet().removeIf(entry -> refreshed(entry.getValue())),
            "values().removeIf",
            () -> map.values().removeIf(this::refreshed),
            "values().removeAll",
            () -> map.values().removeAll(new RefreshingSet(true)),
            "values().retainAll",
            () -> map.values().retainAll(new RefreshingSet(false)),
            "entrySet().retainAll",
            () -> map.entrySet().retainAll(new RefreshingSet(false)),
            "iterator of entries",
            () -> {
              Iterator<Map.Entry<String, Integer>> entries = map.entrySet().iterator();
              refreshed(entries.next().getValue());
              entries.remove();
              return false;
            },
            "iterator of values",
            () -> {
              Iterator<Integer> values = map.values().iterator();
              refreshed(values.next());
              values.remove();
              return false;
            });
    removals.forEach((what, removal) -> {
      expired();
      assertFalse(removal.getAsBoolean(), what + " has removed nothing");
      assertEquals(1, map.get("a"), what + " removed what was stored meanwhile");
    });
  }

  @Test
  void anEntryStoresInThePlaceOfWhatItShows() {
    map.set("a", 1);
    Iterator<Map.Entry<String, Integer>> iterator = map.entrySet().iterator();
    Map.Entry<String, Integer> entry = iterator.next();
    map.set("a", 2);
    assertThrows(IllegalStateException.class, () -> entry.setValue(3));
    assertEquals(2, map.get("a"), "nothing was stored");
    map.delete("a");
    assertThrows(IllegalStateException.class, () -> entry.setValue(3));
    assertNull(map.get("a"), "what was removed stays removed");
    map.set("a", 1);
    assertEquals(1, entry.setValue(3), "it is back");
    assertEquals(3, entry.setValue(4));
    assertEquals(4, entry.getValue());
    iterator.remove();
    assertNull(map.get("a"), "what was set through the entry is what was seen last");
  }

  @Test
  void replacingAllTakesNewerValuesAndLeavesWhatIsGone() {
    for (int i = 0; i < 40; i++) {
      map.set("key" + i, i);
    }
    store.beforeChange =
        () -> {
          map.delete("key1");
          map.set("key0", 100);
        };
    map.replaceAll((key, value) -> value + 1);
    assertEquals(101, map.get("key0"));
    assertNull(map.get("key1"));
    assertEquals(40, map.get("key39"));
    assertThrows(NullPointerException.class, () -> map.replaceAll((key, value) -> null));
    assertEquals(39, map.size());
  }

  @Test
  void keysAreRemovedWithoutALookAtOthers() {
    for (int i = 0; i < 100; i++) {
      map.set("key" + i, i);
    }
    assertTrue(map.keySet().remove("key7"));
    assertFalse(map.keySet().remove("key7"));
    assertTrue(map.keySet().removeAll(List.of("key8", "none")));
    assertFalse(map.keySet().removeAll(List.of("none")));
    assertEquals(0, store.keysAsked);
    assertTrue(map.keySet().removeIf(key -> key.equals("key9")));
    assertTrue(map.keySet().retainAll(Set.of("key1", "key2")));
    assertEquals(Set.of("key1", "key2"), map.keySet());
    assertEquals(0, store.gets, "keys don't touch values");
  }

  // Streams.

  @Test
  void streamsDoNotKnowTheirSize() {
    for (int i = 0; i < 100; i++) {
      map.set("key" + i, i);
    }
    for (Collection<?> view : List.of(map.keySet(), map.values(), map.entrySet())) {
      assertFalse(view.spliterator().hasCharacteristics(Spliterator.SIZED));
      assertTrue(view.spliterator().hasCharacteristics(Spliterator.CONCURRENT));
      assertEquals(100, view.stream().toList().size());
      assertEquals(100, view.parallelStream().filter(each -> true).toArray().length);
      assertEquals(100, view.toArray().length);
      assertEquals(100, view.toArray(new Object[0]).length);
      assertEquals(100, view.toArray(Object[]::new).length);
    }
    List<String> shown = map.keySet().stream().peek(key -> map.delete("key99")).toList();
    assertTrue(shown.size() >= 99);
    map.set("key99", 99);
    assertTrue(
        map.values().stream().peek(value -> map.set("new" + value, value)).toArray().length >= 100);
  }

  @Test
  void whoWantsTheFirstReadsLittleMore() {
    for (int i = 0; i < 100; i++) {
      map.set("key" + i, i);
    }
    assertEquals("key0", map.keySet().stream().findFirst().orElseThrow());
    assertTrue(store.keysAsked <= 2, () -> "keys: " + store.keysAsked);
    assertEquals(0, map.values().stream().findFirst().orElseThrow());
    assertEquals(1, store.gets);
    assertTrue(store.keysAsked <= 4, () -> "keys: " + store.keysAsked);
  }

  // Functions that change what they compute.

  private static void assertRecursive(Executable call) {
    IllegalStateException thrown = assertThrows(IllegalStateException.class, call);
    assertEquals("Recursive update", thrown.getMessage());
  }

  @Test
  void functionsDoNotChangeTheKeyTheyCompute() {
    ErdaMap<String, Integer> same = new ErdaMap<>(store, Serializer.utf8(), NUMBERS);
    List<Consumer<Integer>> changes =
        List.of(
            next -> map.compute("a", (key, now) -> next),
            next -> map.merge("a", 1, (one, two) -> next),
            next -> map.put("a", next),
            next -> map.set("a", next),
            next -> map.delete("a"),
            next -> map.remove("a"),
            next -> map.replace("a", next),
            next -> map.putAll(Map.of("b", 1, "a", next)),
            next -> map.replaceAll((key, now) -> next),
            next -> map.entrySet().iterator().next().setValue(next),
            next -> map.keySet().removeIf(key -> true),
            next -> map.clear(),
            next -> same.put("a", next),
            next -> map.compute("b", (key, now) -> same.put("a", next)));
    for (Consumer<Integer> change : changes) {
      map.set("a", 0);
      int[] calls = {0};
      assertRecursive(() ->
          map.compute(
              "a",
              (key, now) -> {
                assertTrue(calls[0] < 10, "it goes round and round");
                change.accept(++calls[0]);
                return 0;
              }));
      assertRecursive(() -> map.merge("a", 1, (one, two) -> accepted(change)));
      assertRecursive(() -> map.computeIfPresent("a", (key, now) -> accepted(change)));
      assertRecursive(() -> map.replaceAll((key, now) -> accepted(change)));
      assertEquals(0, map.get("a"));
    }
    map.clear();
    assertRecursive(() -> map.computeIfAbsent("a", key -> map.computeIfAbsent("a", again -> 1)));
    assertRecursive(() -> map.computeIfAbsent("a", key -> map.put("a", 1)));
    assertNull(map.get("a"));
    // Others may be changed, and the key may be read.
    assertEquals(
        3,
        map.computeIfAbsent(
            "a", key -> map.get("a") == null ? map.merge("b", 3, Integer::sum) : 0));
    assertEquals(4, map.compute("a", (key, now) -> map.computeIfAbsent("a", again -> 9) + 1));
    assertEquals(3, map.get("b"));
    map.set("a", 7); // nothing is left behind
  }

  private static Integer accepted(Consumer<Integer> change) {
    change.accept(5);
    return 0;
  }

  // Values that the map's serializer can't decode.

  private static void bad(MemoryStore in) {
    in.put("bad".getBytes(UTF_8), "no number".getBytes(UTF_8));
  }

  private static UndecodableException assertUndecodable(Executable call) {
    UndecodableException thrown = assertThrows(UndecodableException.class, call);
    assertFalse(thrown.isOfKey());
    assertEquals("bad", new String(thrown.key(), UTF_8));
    assertTrue(thrown.getMessage().contains("key 'bad', 9 bytes"), thrown::getMessage);
    assertTrue(thrown.getCause() instanceof NumberFormatException);
    return thrown;
  }

  @Test
  void aMethodThatCannotDecodeHasChangedNothing() {
    bad(store);
    assertUndecodable(() -> map.get("bad"));
    assertUndecodable(() -> map.put("bad", 1));
    assertUndecodable(() -> map.putIfAbsent("bad", 1));
    assertUndecodable(() -> map.replace("bad", 1));
    assertUndecodable(() -> map.replace("bad", 1, 2));
    assertUndecodable(() -> map.remove("bad"));
    assertUndecodable(() -> map.remove("bad", 1));
    assertUndecodable(() -> map.compute("bad", (key, now) -> 1));
    assertUndecodable(() -> map.computeIfAbsent("bad", key -> 1));
    assertUndecodable(() -> map.computeIfPresent("bad", (key, now) -> 1));
    assertUndecodable(() -> map.merge("bad", 1, Integer::sum));
    assertUndecodable(() -> map.replaceAll((key, now) -> 1));
    assertUndecodable(() -> map.values().removeIf(value -> true));
    assertUndecodable(() -> map.containsValue(1));
    assertUndecodable(() -> map.entrySet().iterator().next().setValue(1));
    assertEquals("no number", new String(store.get("bad".getBytes(UTF_8)), UTF_8));
  }

  @Test
  void keysAreToldRemovedAndReplacedWhateverTheirValues() {
    bad(store);
    map.set("good", 1);
    assertEquals(Set.of("bad", "good"), map.keySet());
    assertEquals(2, map.size());
    assertTrue(map.containsKey("bad"));
    assertTrue(map.keySet().contains("bad"));
    assertTrue(map.keySet().remove("bad"));
    bad(store);
    map.set("bad", 2);
    assertEquals(2, map.get("bad"));
    bad(store);
    assertTrue(map.delete("bad"));
    bad(store);
    map.clear();
    assertTrue(map.isEmpty());
  }

  @Test
  void whatCannotBeDecodedIsRemovedOrPassedOver() {
    bad(store);
    map.set("after", 1);
    map.set("good", 2);
    Set<Integer> shown = new HashSet<>();
    for (Iterator<Integer> values = map.values().iterator(); values.hasNext(); ) {
      try {
        shown.add(values.next());
      } catch (UndecodableException e) {
        shown.add(-1);
      }
    }
    assertEquals(Set.of(1, -1, 2), shown);
    Iterator<Integer> values = map.values().iterator();
    assertEquals(1, values.next());
    assertUndecodable(values::next);
    values.remove();
    assertEquals(2, values.next());
    assertEquals(Set.of("after", "good"), map.keySet());
    bad(store);
    assertTrue(
        map.entrySet()
            .removeIf(entry -> {
              try {
                return entry.getValue() == 2;
              } catch (UndecodableException e) {
                return true;
              }
            }));
    assertEquals(Map.of("after", 1), map);
  }

  @Test
  void keysThatCannotBeDecodedAreRemovedOrPassedOver() {
    ErdaMap<Integer, Integer> numbered = new ErdaMap<>(store, NUMBERS, NUMBERS);
    numbered.set(1, 1);
    store.put("a".getBytes(UTF_8), "2".getBytes(UTF_8));
    store.put("b".getBytes(UTF_8), "3".getBytes(UTF_8));
    Iterator<Integer> keys = numbered.keySet().iterator();
    assertEquals(1, keys.next());
    UndecodableException thrown = assertThrows(UndecodableException.class, keys::next);
    assertTrue(thrown.isOfKey());
    assertTrue(thrown.getMessage().contains("key 'a'"), thrown::getMessage);
    keys.remove();
    thrown = assertThrows(UndecodableException.class, keys::next);
    assertEquals("b", new String(thrown.key(), UTF_8));
    assertFalse(keys.hasNext());
    assertEquals(2, numbered.size());
    assertEquals(Set.of(1, 3), Set.copyOf(numbered.values()));
  }

  /** Found by a tester: the exception said nothing about the serializer. */
  @Test
  void aSerializerThatReturnsNullIsNamed() {
    Serializer<String> none = Serializer.of(text -> null, bytes -> null);
    ErdaMap<String, Integer> ofNoKeys = new ErdaMap<>(store, none, NUMBERS);
    for (Executable call :
        List.<Executable>of(
            () -> ofNoKeys.get("a"),
            () -> ofNoKeys.set("a", 1),
            () -> ofNoKeys.merge("a", 1, Integer::sum),
            () -> ofNoKeys.putAll(Map.of("a", 1)))) {
      NullPointerException thrown = assertThrows(NullPointerException.class, call);
      assertEquals("the serializer of keys returned null", thrown.getMessage());
    }
    ErdaMap<String, String> ofNoValues = new ErdaMap<>(store, Serializer.utf8(), none);
    for (Executable call :
        List.<Executable>of(
            () -> ofNoValues.set("a", "1"),
            () -> ofNoValues.compute("a", (key, now) -> "1"),
            () -> ofNoValues.putAll(Map.of("a", "1")))) {
      NullPointerException thrown = assertThrows(NullPointerException.class, call);
      assertEquals("the serializer of values returned null", thrown.getMessage());
    }
    assertTrue(map.isEmpty());
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
