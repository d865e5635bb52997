package io.erda.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.iteration.ScanOrder;
import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.protocol.ErdaException;
import io.erda.protocol.Root;
import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An iteration, with everything that may happen beside it. */
class KeyCursorTest {
  private static final int KEYS = 1500;

  private final FakeStore store = new FakeStore();
  private final Map<String, String> expected = new TreeMap<>();
  private ErdaClient erda;

  @BeforeEach
  void fill() {
    for (int i = 0; i < KEYS; i++) {
      put("key " + i, "value " + i);
    }
    erda = store.client();
  }

  @AfterEach
  void close() {
    erda.close();
  }

  private void put(String key, String value) {
    store.put(key, value);
    expected.put(key, value);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private Map<String, String> all() {
    Map<String, String> all = new HashMap<>();
    try (KeyCursor keys = erda.keys()) {
      while (keys.next()) {
        take(keys, all);
      }
      assertFalse(keys.next());
    }
    return all;
  }

  private static void take(KeyCursor keys, Map<String, String> into) {
    String key = new String(keys.key(), UTF_8);
    String before = into.put(key, new String(keys.value(), UTF_8));
    assertEquals(null, before, () -> key + " was given twice");
  }

  /** Runs an action before each READ of the root. */
  private void beforeRoots(Runnable action) {
    store.clientDevice.hook =
        (opcode, key, offset, length) -> {
          if (opcode == Opcode.READ && key == store.rootKey()) {
            action.run();
          }
          return HookedDevice.GO;
        };
  }

  @Test
  void givesEveryKeyOnceWithItsValue() {
    assertEquals(expected, all());
    assertEquals(expected, all());
  }

  @Test
  void givesNothingOfAnEmptyStore() {
    FakeStore empty = new FakeStore();
    try (ErdaClient client = empty.client();
        KeyCursor keys = client.keys()) {
      assertFalse(keys.next());
      assertFalse(keys.next());
      assertThrows(IllegalStateException.class, keys::key);
    }
  }

  @Test
  void givesNoKeyThatWasDeletedOrIsNotDecided() {
    store.put("key 7", null);
    expected.remove("key 7");
    byte[] key = bytes("undecided");
    int offset = store.append(store.headOf(key), key, bytes("x"));
    store.insert(store.keyWord(key), VersionWord.first(offset, true));
    assertEquals(expected, all());
  }

  @Test
  void theNewestDecidedVersionIsGiven() {
    put("key 8", "newer");
    byte[] key = bytes("key 9");
    int offset = store.append(store.headOf(key), key, bytes("undecided"));
    long entry = store.entryOf(key);
    store.setWord(entry, VersionWord.update(store.word(entry), offset, true));
    assertEquals(expected, all());
  }

  @Test
  void takesObjectsOfEveryLength() {
    put("long", "x".repeat(150_000));
    put("longer than what is read at first", "y".repeat(5_000));
    put("empty", "");
    assertEquals(expected, all());
  }

  @Test
  void readsManyObjectsAtATime() {
    int[] roots = {0};
    beforeRoots(() -> roots[0]++);
    assertEquals(expected, all());
    // Stretches of 1, 2, 4 … buckets, and one more for the counter that was not known.
    assertTrue(roots[0] < 20, roots[0] + " READs of the root");
    ClientStatistics statistics = erda.statistics();
    assertEquals(KEYS, statistics.objectReads());
  }

  @Test
  void copiesIntoSegments() {
    try (KeyCursor keys = erda.keys();
        Arena arena = Arena.ofConfined()) {
      assertThrows(IllegalStateException.class, keys::key);
      assertTrue(keys.next());
      MemorySegment into = arena.allocate(64);
      long length = keys.key(into);
      String key = new String(into.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), UTF_8);
      assertEquals(new String(keys.key(), UTF_8), key);
      assertEquals(expected.get(key).length(), keys.value(into));
      assertEquals(length, keys.key(arena.allocate(1)));
    }
  }

  @Test
  void oneCursorIsOpenAtATime() {
    KeyCursor keys = erda.keys();
    assertThrows(IllegalStateException.class, erda::keys);
    keys.close();
    assertThrows(IllegalStateException.class, keys::next);
    assertEquals(expected, all());
    KeyCursor atEnd = erda.keys();
    while (atEnd.next()) {
      assertThrows(IllegalStateException.class, erda::keys);
    }
    KeyCursor next = erda.keys(); // the other one was not closed
    assertTrue(next.next());
    assertFalse(atEnd.next(), "it stays at its end");
    assertThrows(IllegalStateException.class, atEnd::key);
    next.close();
    KeyCursor left = erda.keys();
    erda.close();
    assertThrows(IllegalStateException.class, left::next);
  }

  @Test
  void getsAndPutsGoOnBesideIt() {
    Map<String, String> all = new HashMap<>();
    try (KeyCursor keys = erda.keys()) {
      while (keys.next()) {
        take(keys, all);
        String key = new String(keys.key(), UTF_8);
        assertEquals(expected.get(key), new String(erda.get(bytes(key)), UTF_8));
        if (all.size() < 20) {
          erda.put(bytes(key), bytes("overwritten"));
        }
      }
    }
    assertEquals(expected, all);
  }

  /** Two keys that share a key word, as one pair in 2^56 does. */
  @Test
  void givesBothKeysOfOneKeyWord() {
    byte[] key = bytes("key 3");
    long keyWord = store.keyWord(key);
    int offset = store.append(store.headOf(key), key, bytes("of the copy"));
    store.insert(keyWord, VersionWord.first(offset, false));
    // It has the same key, so it is a copy as recovery would leave none; it is given once.
    Map<String, String> all = all();
    assertEquals(expected.keySet(), new TreeSet<>(all.keySet()));
  }

  /**
   * An entry is displaced while its stretch is READ. A READ of the new place before the move, and
   * of the old place after it, misses the entry. The structure counter reveals that.
   */
  @Test
  void missesNoEntryThatIsDisplacedMeanwhile() {
    SplittableRandom random = new SplittableRandom(5);
    long[] counter = {0};
    int[] moves = {0};
    store.clientDevice.hook =
        (opcode, key, offset, length) -> {
          if (opcode == Opcode.READ && key == store.rootKey() && random.nextInt(3) == 0) {
            // The entries that were READ just before miss one that comes back here.
            moves[0]++;
            counter[0] += 2;
            store.setRoot(Root.STRUCTURE_COUNTER_OFFSET, counter[0]);
          }
          if (opcode == Opcode.READ && key == store.tableKey()) {
            displace(random, counter);
          }
          return HookedDevice.GO;
        };
    assertEquals(expected, all());
    assertTrue(moves[0] > 0);
    assertTrue(erda.statistics().absenceRetries() > 0);
  }

  /** Moves a random entry to a free slot of its neighbourhood, or not at all. */
  private void displace(SplittableRandom random, long[] counter) {
    byte[] key = bytes("key " + random.nextInt(KEYS));
    long entry = store.entryOf(key);
    long keyWord = store.keyWord(key);
    long home = FakeStore.ENTRIES_OFFSET + Entry.bucket(keyWord, FakeStore.BUCKETS) * Entry.BYTES;
    long to = home + random.nextInt(16) * Entry.BYTES;
    if (store.word(to) != 0 || to == entry) {
      return;
    }
    counter[0] += 2;
    store.setRoot(Root.STRUCTURE_COUNTER_OFFSET, counter[0]);
    store.table.set(ValueLayout.JAVA_LONG, to, keyWord);
    store.setWord(to, store.word(entry));
    store.setWord(entry, 0);
    store.table.set(ValueLayout.JAVA_LONG, entry, 0);
  }

  @Test
  void anEntryThatLeavesWhileItIsReadIsNotMissed() {
    // It is gone when its stretch is READ, and back behind when the root is.
    byte[] key = bytes("key 11");
    long entry = store.entryOf(key);
    long word = store.word(entry);
    int[] reads = {0};
    store.clientDevice.hook =
        (opcode, remote, offset, length) -> {
          boolean covers = offset <= entry && entry < offset + length;
          if (opcode == Opcode.READ && remote == store.tableKey() && covers && reads[0]++ == 0) {
            store.setWord(entry, 0);
          } else if (opcode == Opcode.READ && remote == store.rootKey()) {
            if (store.word(entry) == 0) {
              store.setWord(entry, word);
              store.setRoot(Root.STRUCTURE_COUNTER_OFFSET, 2);
            }
          }
          return HookedDevice.GO;
        };
    assertEquals(expected, all());
  }

  @Test
  void theTableIsDoubledMeanwhile() {
    isResizedMeanwhile(store::beginDoubling);
  }

  @Test
  void theTableIsHalvedMeanwhile() {
    isResizedMeanwhile(store::beginHalving);
  }

  private void isResizedMeanwhile(Runnable begin) {
    Map<String, String> all = new HashMap<>();
    try (KeyCursor keys = erda.keys()) {
      for (int i = 0; i < 200; i++) {
        assertTrue(keys.next());
        take(keys, all);
      }
      begin.run();
      int moved = 0;
      boolean ended = false;
      while (keys.next()) {
        take(keys, all);
        for (int i = 0; i < 2 && moved < KEYS; i++) {
          store.move(store.entryOf(bytes("key " + moved++)));
        }
        if (moved == KEYS && !ended) {
          ended = true;
          store.endResizing();
        }
      }
      assertTrue(ended);
    }
    assertEquals(expected, all);
  }

  /**
   * Entries are moved between the READs of the two tables, and some are copied and not moved yet.
   */
  @Test
  void entriesAreMovedBetweenTheReadsOfBothTables() {
    store.beginDoubling();
    SplittableRandom random = new SplittableRandom(11);
    int[] moved = {0};
    store.clientDevice.hook =
        (opcode, key, offset, length) -> {
          if (opcode == Opcode.READ && key == store.nextKey()) {
            // Some of those that were READ in the old table just before.
            long from = offset - FakeStore.ENTRIES_OFFSET;
            from %= FakeStore.BUCKETS * Entry.BYTES;
            for (long at = from; at < from + length; at += Entry.BYTES) {
              long entry = FakeStore.ENTRIES_OFFSET + at;
              long word = store.word(entry);
              if (word != 0 && word != VersionWord.MOVED && random.nextInt(4) == 0) {
                store.move(entry);
                moved[0]++;
              }
            }
          }
          return HookedDevice.GO;
        };
    assertEquals(expected, all());
    assertTrue(moved[0] > 100, moved[0] + " were moved");
    assertTrue(erda.statistics().lookUps() > 100, "no key word was met twice");
  }

  @Test
  void objectsMoveWithinTheLog() {
    Map<String, String> all = new HashMap<>();
    try (KeyCursor keys = erda.keys()) {
      int cleaned = 0;
      while (keys.next()) {
        take(keys, all);
        // This moves an object as the cleaner does: it copies it, stores the word, and clears the
        // place where it was.
        for (int i = 0; i < 3; i++) {
          byte[] key = bytes("key " + cleaned++ % KEYS);
          long entry = store.entryOf(key);
          int before = VersionWord.newest(store.word(entry));
          int copy =
              store.append(store.headOf(key), key, bytes(expected.get(new String(key, UTF_8))));
          store.setWord(entry, VersionWord.first(copy, false));
          store
              .regions
              .get(store.headOf(key))
              .asSlice(store.geometry.place(before), 16)
              .fill((byte) 0);
        }
      }
    }
    assertEquals(expected, all);
    assertTrue(erda.statistics().lookUps() > 100, "no object was looked up again");
  }

  /**
   * A word that was READ before a region was cleaned and used again names a place where by now an
   * object of the same key may lie that was written and not published. A seed of the simulation
   * found it.
   */
  @Test
  void nothingUnpublishedIsGivenInARegionThatIsUsedAgain() {
    Map<String, String> all = new HashMap<>();
    try (KeyCursor keys = erda.keys()) {
      for (int i = 0; i < 300; i++) {
        assertTrue(keys.next());
        take(keys, all);
      }
      store.rewind();
      store.generation++;
      for (int i = 0; i < KEYS; i++) {
        byte[] key = bytes("key " + i);
        int offset = store.append(store.headOf(key), key, bytes("VALUE " + i));
        assertEquals(VersionWord.newest(store.word(store.entryOf(key))), offset);
      }
      for (int i = 0; i < KEYS; i++) {
        byte[] key = bytes("key " + i);
        int copy = store.append(store.headOf(key), key, bytes("value " + i));
        store.setWord(store.entryOf(key), VersionWord.first(copy, false));
      }
      store.setRoot(Root.EPOCH_OFFSET, store.getRoot(Root.EPOCH_OFFSET) + 1);
      while (keys.next()) {
        take(keys, all);
      }
    }
    assertEquals(expected, all);
  }

  /** Returns what is said of the one damaged key; all others are given as they were put. */
  private String theDamageAmongAllOthers() {
    Map<String, String> all = new HashMap<>();
    List<String> damages = new ArrayList<>();
    try (KeyCursor keys = erda.keys()) {
      boolean more = true;
      while (more) {
        try {
          more = keys.next();
          if (more) {
            take(keys, all);
          }
        } catch (ErdaException.Damaged e) {
          damages.add(e.getMessage());
        }
      }
    }
    assertEquals(1, damages.size(), damages::toString);
    assertEquals(expected, all);
    return damages.getFirst();
  }

  @Test
  void aDamagedObjectIsToldOnceAndLeftOut() {
    byte[] key = bytes("key 100");
    long place = store.geometry.place(VersionWord.newest(store.word(store.entryOf(key))));
    MemorySegment region = store.regions.get(store.headOf(key));
    region.set(ValueLayout.JAVA_BYTE, place + 12, (byte) 0x55);
    expected.remove("key 100");
    String told = theDamageAmongAllOthers();
    assertTrue(told.contains("offset"), told);
  }

  @Test
  void anEntryOfAHeadThatTheStoreHasNotIsDamageAndLeftOut() {
    long entry = store.entryOf(bytes("key 100"));
    store.table.set(ValueLayout.JAVA_BYTE, entry + 7, (byte) 98);
    expected.remove("key 100");
    theDamageAmongAllOthers();
  }

  @Test
  void goesOnWithAnotherConnectionAndAnotherServer() {
    Map<String, String> all = new HashMap<>();
    try (KeyCursor keys = erda.keys()) {
      for (int i = 0; keys.next(); i++) {
        take(keys, all);
        if (i % 100 == 50) {
          store.disconnect();
        } else if (i % 300 == 299) {
          store.stop();
          store.setRoot(Root.INCARNATION_OFFSET, store.getRoot(Root.INCARNATION_OFFSET) + 1);
          store.start();
        }
      }
    }
    assertEquals(expected, all);
    assertTrue(erda.statistics().connections() > 5);
  }

  @Test
  void readsThatFailAreMadeUpFor() {
    SplittableRandom random = new SplittableRandom(3);
    store.clientDevice.hook =
        (opcode, key, offset, length) ->
            opcode != Opcode.READ || random.nextInt(16) > 0
                ? HookedDevice.GO
                : random.nextInt(2) == 0 ? HookedDevice.REFUSE : Status.REMOTE_ACCESS;
    assertEquals(expected, all());
  }

  @Test
  void memoryOfOneObjectThatIsLostIsTheDamageOfThatObject() {
    byte[] lost = bytes("key 200");
    long place = store.geometry.place(VersionWord.newest(store.word(store.entryOf(lost))));
    long region = store.regionKeys.get((long) store.headOf(lost)).remoteKey();
    store.clientDevice.hook =
        (opcode, key, offset, length) ->
            opcode == Opcode.READ && key == region && offset == place
                ? Status.MEMORY_LOST
                : HookedDevice.GO;
    expected.remove("key 200");
    theDamageAmongAllOthers();
  }

  @Test
  void aTableThatCannotBeReadEndsIt() {
    try (KeyCursor keys = erda.keys()) {
      store.clientDevice.hook =
          (opcode, key, offset, length) ->
              opcode == Opcode.READ && key == store.tableKey()
                  ? Status.MEMORY_LOST
                  : HookedDevice.GO;
      assertThrows(ErdaException.Unusable.class, keys::next);
      store.clientDevice.hook = (opcode, key, offset, length) -> HookedDevice.GO;
      int count = 0;
      while (keys.next()) {
        count++;
      }
      assertEquals(KEYS, count);
    }
  }

  @Test
  void aClientWithAnOlderMapGoesOnWhereAnotherOneHasCome() {
    ArrayDeque<byte[]> keys = new ArrayDeque<>();
    store.beginDoubling();
    for (String key : expected.keySet()) {
      store.move(store.entryOf(bytes(key)));
    }
    store.endResizing();
    try (ErdaClient newer = store.client()) {
      ScanOrder order = newer.nextStretch(null, keys, new ArrayDeque<>());
      while (!order.isAtEnd()) {
        order = erda.nextStretch(order, keys, new ArrayDeque<>());
      }
    }
    assertEquals(KEYS, keys.size());
    assertEquals(
        expected.keySet(), keys.stream().map(key -> new String(key, UTF_8)).collect(toSet()));
  }

  /** The order is one of a table of 2^40 buckets of which nothing was taken. */
  @Test
  void aTableThatHasShrunkIsGoneOverOnce() {
    ArrayDeque<byte[]> keys = new ArrayDeque<>();
    ScanOrder order = new ScanOrder(1L << 40);
    while (!order.isAtEnd()) {
      order = erda.nextStretch(order, keys, new ArrayDeque<>());
    }
    assertEquals(KEYS, keys.size());
    assertEquals(
        expected.keySet(), keys.stream().map(key -> new String(key, UTF_8)).collect(toSet()));
  }
}
