package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class HashTableTest {
  private static final long SEED = Long.getLong("erda.seed", 1);

  private static final class Counter implements StructureCounter {
    long value;

    @Override
    public void beginMove() {
      value |= 1;
    }

    @Override
    public void endMove() {
      value = (value | 1) + 1;
    }
  }

  private final Counter counter = new Counter();

  private HashTable create(long buckets) {
    return HashTable.create(new PlainMemory(HashTable.bytesFor(buckets)), buckets, counter);
  }

  private static List<TableFinding> findings(HashTable table) {
    List<TableFinding> findings = new ArrayList<>();
    table.check(findings::add);
    return findings;
  }

  private static void put(PlainMemory memory, long slot, long keyWord, long versionWord) {
    memory.putLongRelease(TableLayout.entryOffset(slot), keyWord);
    memory.putLongRelease(TableLayout.entryOffset(slot) + 8, versionWord);
  }

  @Test
  void aSweepForSomeOffsetsShowsThoseEntriesAlone() {
    HashTable table = create(64);
    int mask = VersionWord.OFFSET_MAX & -16;
    Set<Long> inFirst = new HashSet<>();
    Set<Long> inSecond = new HashSet<>();
    Set<Long> inThird = new HashSet<>();
    for (long key = 1; key <= 20; key++) {
      long keyWord = key << 32 | key;
      long word = VersionWord.first(16 + (int) key, false);
      (key < 16 ? inFirst : inSecond).add(keyWord);
      if (key % 3 == 0) {
        word = VersionWord.update(word, 48, false);
        inThird.add(keyWord);
      }
      table.insert(keyWord, word);
    }
    assertEquals(inFirst, shown(table, mask, 16));
    assertEquals(inSecond, shown(table, mask, 32));
    assertEquals(inThird, shown(table, mask, 48));
    assertEquals(Set.of(), shown(table, mask, 64));
    assertEquals(20, shown(table, 0, 0).size());
  }

  private static Set<Long> shown(HashTable table, int mask, int bits) {
    Set<Long> shown = new HashSet<>();
    table.forEachWithOffset(
        0, table.slots(), mask, bits, (slot, keyWord, word) -> shown.add(keyWord));
    return shown;
  }

  @Test
  void theLikelyWordIsThatOfTheFirstEntryInUse() {
    HashTable table = create(64);
    long word = VersionWord.first(9, false);
    assertEquals(0, table.likelyWord(5));
    long slot = table.insert(5, word);
    table.insert(5 + 64, VersionWord.first(11, false));
    assertEquals(word, table.likelyWord(5));
    long next = VersionWord.update(word, 13, false);
    table.storeWord(slot, 5, word, next);
    assertEquals(next, table.likelyWord(5));
    assertTrue(table.remove(slot, 5, next));
    assertEquals(0, table.likelyWord(5));
  }

  @Test
  void insertFindUpdateEmpty() {
    HashTable table = create(16);
    long word = VersionWord.first(9, false);
    assertEquals(HashTable.NONE, table.find(5, (s, w) -> true));
    long slot = table.insert(5, word);
    assertEquals(slot, table.find(5, (s, w) -> w == word));
    assertEquals(HashTable.NONE, table.find(5, (s, w) -> false));
    assertEquals(5, table.keyWord(slot));
    assertEquals(word, table.versionWord(slot));
    assertEquals(1, table.size());
    long next = VersionWord.update(word, 11, false);
    assertFalse(table.storeWord(slot, 5, next, next));
    assertFalse(table.storeWord(slot, 6, word, next));
    assertTrue(table.storeWord(slot, 5, word, next));
    assertFalse(table.empty(slot, 5, word));
    assertTrue(table.empty(slot, 5, next));
    assertEquals(0, table.versionWord(slot));
    assertEquals(0, table.keyWord(slot));
    assertEquals(0, table.size());
    assertEquals(0, counter.value);
  }

  @Test
  void pendingEntriesAreNeitherMovedNorEmptied() {
    HashTable table = create(64);
    for (int slot = 0; slot < 16; slot++) {
      table.insert(
          (long) (slot + 1) << 32 | (slot < 8 ? 0 : 1), VersionWord.first(slot + 1, slot >= 8));
    }
    long pending = table.versionWord(15);
    assertFalse(table.empty(15, table.keyWord(15), pending));
    assertEquals(HashTable.NONE, table.insert(99L << 32, VersionWord.first(99, false)));
    assertTrue(table.storeWord(15, table.keyWord(15), pending, VersionWord.commit(pending)));
    assertEquals(15, table.insert(99L << 32, VersionWord.first(99, false)));
    assertEquals(16, table.find(16L << 32 | 1, (s, w) -> true));
    assertEquals(2, counter.value);
    assertEquals(List.of(), findings(table));
  }

  @Test
  void rollbackFreesAFirstVersionAndKeepsTheOneBefore() {
    HashTable table = create(16);
    long first = VersionWord.first(9, true);
    long slot = table.insert(5, first);
    assertFalse(table.rollback(slot, 6, first));
    assertTrue(table.rollback(slot, 5, first));
    assertEquals(0, table.versionWord(slot));
    assertEquals(0, table.keyWord(slot));
    assertEquals(0, table.size());
    long committed = VersionWord.first(10, false);
    long pending = VersionWord.update(committed, 11, true);
    slot = table.insert(5, pending);
    assertTrue(table.rollback(slot, 5, pending));
    assertEquals(committed, table.versionWord(slot));
    assertEquals(1, table.size());
    long last = slot;
    assertThrows(IllegalStateException.class, () -> table.rollback(last, 5, committed));
  }

  @Test
  void misuseThrows() {
    HashTable table = create(16);
    assertThrows(IllegalArgumentException.class, () -> table.insert(0, 1));
    assertThrows(IllegalArgumentException.class, () -> table.insert(1, 0));
    long slot = table.insert(1, VersionWord.first(1, false));
    assertThrows(
        IllegalArgumentException.class,
        () -> table.storeWord(slot, 1, VersionWord.first(1, false), 0));
    assertThrows(IllegalArgumentException.class, () -> table.storeWord(slot + 1, 0, 0, 2));
    assertThrows(IndexOutOfBoundsException.class, () -> table.keyWord(HashTable.NONE));
    assertThrows(IndexOutOfBoundsException.class, () -> table.versionWord(table.slots()));
    for (long buckets : new long[] {0, -1, 3, Long.MIN_VALUE, 1L << 41}) {
      assertThrows(IllegalArgumentException.class, () -> HashTable.bytesFor(buckets));
    }
    assertThrows(
        IllegalArgumentException.class,
        () -> HashTable.create(new PlainMemory(HashTable.bytesFor(16)), 32, counter));
  }

  @Test
  void smallestTable() {
    HashTable table = create(1);
    for (int i = 1; i <= 16; i++) {
      assertNotEquals(HashTable.NONE, table.insert(i, VersionWord.first(i, false)));
    }
    assertEquals(HashTable.NONE, table.insert(17, VersionWord.first(17, false)));
    assertEquals(16, table.size());
  }

  @Test
  void sizeIsCountedStepByStepWhileTheTableChanges() {
    SplittableRandom random = new SplittableRandom(SEED);
    long buckets = 1 << 14;
    PlainMemory memory = new PlainMemory(HashTable.bytesFor(buckets));
    HashTable table = HashTable.create(memory, buckets, counter);
    assertTrue(table.sizeKnown());
    insertAtRandom(table, random, 8000);
    HashTable opened = HashTable.open(memory, counter);
    assertFalse(opened.sizeKnown());
    int steps = 0;
    while (opened.doWork() > 0) {
      steps++;
      insertAtRandom(opened, random, 800);
      for (int i = 0; i < 300; i++) {
        long slot = random.nextLong(opened.slots());
        if (opened.versionWord(slot) != 0) {
          opened.empty(slot, opened.keyWord(slot), opened.versionWord(slot));
        }
      }
    }
    assertEquals(5, steps);
    long[] counted = new long[1];
    opened.forEach((slot, key, word) -> counted[0]++);
    assertEquals(counted[0], opened.size(), "replay with -Derda.seed=" + SEED);
    assertTrue(counter.value > 4, "no entry was moved");
    HashTable again = HashTable.open(memory, counter);
    assertEquals(counted[0], again.size());
    assertTrue(again.sizeKnown());
  }

  private static void insertAtRandom(HashTable table, SplittableRandom random, int entries) {
    for (int i = 0; i < entries; i++) {
      table.insert(
          Entry.keyWord(random.nextLong(), 16),
          VersionWord.first(1 + random.nextInt(1 << 30), false));
    }
  }

  /**
   * Keys, some with equal key words, against a map; fullness up to where insertion fails, and
   * exactly there.
   */
  @Test
  void agreesWithAModel() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int round = 0; round < 20; round++) {
      int keys = 40 + random.nextInt(60);
      Model model = new Model(64, keys, random);
      for (int i = 0; i < 1500; i++) {
        model.step("round " + round + ", step " + i + ", replay with -Derda.seed=" + SEED);
      }
      model.checkAll("round " + round + ", replay with -Derda.seed=" + SEED);
    }
  }

  private final class Model {
    private final SplittableRandom random;
    private final long[] keyWords;
    private final Map<Integer, Long> words = new HashMap<>();
    private final Map<Integer, Integer> keyOfOffset = new HashMap<>();
    private final PlainMemory memory;
    private HashTable table;
    private int offset;

    Model(long buckets, int keys, SplittableRandom random) {
      this.random = random;
      memory = new PlainMemory(HashTable.bytesFor(buckets));
      table = HashTable.create(memory, buckets, counter);
      keyWords = new long[keys];
      for (int i = 0; i < keys; i++) {
        keyWords[i] = i % 5 == 4 ? keyWords[i - 1] : Entry.keyWord(random.nextLong(), 3);
      }
    }

    void step(String where) {
      int key = random.nextInt(keyWords.length);
      long slot = find(key);
      assertEquals(
          words.getOrDefault(key, 0L),
          slot == HashTable.NONE ? 0L : table.versionWord(slot),
          where);
      if (slot == HashTable.NONE) {
        insert(key, where);
      } else if (VersionWord.pending(words.get(key))) {
        decide(key, slot, where);
      } else if (random.nextInt(4) == 0) {
        assertTrue(table.empty(slot, keyWords[key], words.remove(key)), where);
      } else {
        long next = VersionWord.update(words.get(key), named(key), random.nextInt(3) == 0);
        assertTrue(table.storeWord(slot, keyWords[key], words.put(key, next), next), where);
      }
      if (random.nextInt(200) == 0) {
        table = HashTable.open(memory, counter);
      }
      if (random.nextInt(100) == 0) {
        checkAll(where);
      }
    }

    private void insert(int key, String where) {
      boolean room = reachable(keyWords[key]);
      long stores = memory.stores();
      long moves = counter.value;
      long word = VersionWord.first(named(key), random.nextInt(3) == 0);
      long slot = table.insert(keyWords[key], word);
      assertEquals(room, slot != HashTable.NONE, where);
      if (room) {
        words.put(key, word);
      } else {
        assertEquals(stores, memory.stores(), where);
        assertEquals(moves, counter.value, where);
      }
    }

    private void decide(int key, long slot, String where) {
      long word = words.get(key);
      if (random.nextBoolean()) {
        assertTrue(table.storeWord(slot, keyWords[key], word, VersionWord.commit(word)), where);
        words.put(key, VersionWord.commit(word));
      } else {
        assertTrue(table.rollback(slot, keyWords[key], word), where);
        words.put(key, VersionWord.rollback(word));
        words.remove(key, 0L);
      }
    }

    private int named(int key) {
      keyOfOffset.put(++offset, key);
      return offset;
    }

    private long find(int key) {
      return table.find(
          keyWords[key], (slot, word) -> keyOfOffset.get(VersionWord.newest(word)) == key);
    }

    /**
     * By trying everything: whether any free slot can be brought into the neighbourhood by any
     * displacements.
     */
    private boolean reachable(long keyWord) {
      long home = Entry.bucket(keyWord, table.buckets());
      Set<Long> tried = new HashSet<>();
      for (long slot = home; slot < table.slots(); slot++) {
        if (table.versionWord(slot) == 0 && reaches(home, slot, tried)) {
          return true;
        }
      }
      return false;
    }

    private boolean reaches(long home, long free, Set<Long> tried) {
      if (free >= home && free < home + 16) {
        return true;
      }
      if (!tried.add(free)) {
        return false;
      }
      for (long slot = Math.max(home, free - 15); slot < free; slot++) {
        long word = table.versionWord(slot);
        boolean movable =
            word != 0
                && !VersionWord.pending(word)
                && free < Entry.bucket(table.keyWord(slot), table.buckets()) + 16;
        if (movable && reaches(home, slot, tried)) {
          return true;
        }
      }
      return false;
    }

    void checkAll(String where) {
      for (int key = 0; key < keyWords.length; key++) {
        long slot = find(key);
        assertEquals(
            words.getOrDefault(key, 0L),
            slot == HashTable.NONE ? 0L : table.versionWord(slot),
            where);
      }
      assertEquals(words.size(), table.size(), where);
      for (TableFinding finding : findings(table)) {
        assertInstanceOf(TableFinding.SharedKeyWord.class, finding, where);
      }
      assertEquals(0, counter.value & 1, where);
    }
  }

  @Test
  void checkFindsEachKindOfDamage() {
    PlainMemory memory = new PlainMemory(HashTable.bytesFor(64));
    HashTable table = HashTable.create(memory, 64, counter);
    put(memory, 40, 1L << 32 | 3, VersionWord.first(1, false));
    assertInstanceOf(TableFinding.Misplaced.class, only(table));
    put(memory, 40, 0, VersionWord.first(1, false));
    assertInstanceOf(TableFinding.NoKeyWord.class, only(table));
    put(memory, 40, 40, 1L << 63);
    assertInstanceOf(TableFinding.NoVersion.class, only(table));
    put(memory, 40, 40, VersionWord.first(1, false));
    put(memory, 42, 40, VersionWord.update(VersionWord.first(1, false), 2, false));
    assertInstanceOf(TableFinding.Duplicate.class, only(table));
    assertTrue(only(table).damage());
    put(memory, 42, 40, VersionWord.first(2, false));
    assertInstanceOf(TableFinding.SharedKeyWord.class, only(table));
    assertFalse(only(table).damage());
    put(memory, 42, 40, 0);
    assertEquals(new TableFinding.LeftKeyWord(42, 40), only(table));
    put(memory, 42, 0, 0);
    assertEquals(List.of(), findings(table));
    memory.putLongRelease(TableLayout.VALID_OFFSET, 1);
    assertInstanceOf(TableFinding.DamagedIntent.class, only(table));
    memory.putLongRelease(TableLayout.VALID_OFFSET, 0);
    memory.putLongRelease(TableLayout.BUCKETS_OFFSET, 32);
    assertInstanceOf(TableFinding.DamagedHeader.class, only(table));
  }

  private static TableFinding only(HashTable table) {
    List<TableFinding> findings = findings(table);
    assertEquals(1, findings.size(), findings.toString());
    assertFalse(findings.get(0).message().isEmpty());
    return findings.get(0);
  }

  @Test
  void damagedHeadersAreRefusedWithTheValues() {
    assertRefused(TableLayout.MAGIC_OFFSET, 42, "magic 000000000000002a");
    assertRefused(TableLayout.VERSION_OFFSET, 16L << 32 | 7, "layout version 7");
    assertRefused(TableLayout.VERSION_OFFSET, 32L << 32 | 1, "neighbourhood 32");
    assertRefused(TableLayout.BUCKETS_OFFSET, 32, "32 buckets");
    assertRefused(TableLayout.HEADER_CHECKSUM_OFFSET, 5, "0000000000000005");
    assertRefused(TableLayout.VALID_OFFSET, 5, "valid word 0000000000000005");
    PlainMemory memory = new PlainMemory(HashTable.bytesFor(64) - 16);
    TableLayout.putHeader(memory, 64);
    assertThrows(DamagedTableException.class, () -> HashTable.open(memory, counter));
    assertThrows(DamagedTableException.class, () -> HashTable.open(new PlainMemory(64), counter));
  }

  private void assertRefused(long offset, long value, String text) {
    PlainMemory memory = new PlainMemory(HashTable.bytesFor(64));
    HashTable.create(memory, 64, counter);
    memory.putLongRelease(offset, value);
    long before = counter.value;
    long stores = memory.stores();
    DamagedTableException e =
        assertThrows(DamagedTableException.class, () -> HashTable.open(memory, counter));
    assertTrue(e.getMessage().contains(text), e.getMessage());
    assertEquals(before, counter.value);
    assertEquals(stores, memory.stores());
  }

  private void putIntent(
      PlainMemory memory, long source, long destination, long keyWord, long versionWord) {
    memory.putLongRelease(TableLayout.SOURCE_OFFSET, source);
    memory.putLongRelease(TableLayout.DESTINATION_OFFSET, destination);
    memory.putLongRelease(TableLayout.INTENT_KEY_WORD_OFFSET, keyWord);
    memory.putLongRelease(TableLayout.INTENT_VERSION_WORD_OFFSET, versionWord);
    memory.putLongRelease(
        TableLayout.INTENT_CHECKSUM_OFFSET,
        TableLayout.checksum(source, destination, keyWord, versionWord));
    memory.putLongRelease(TableLayout.VALID_OFFSET, TableLayout.MOVING);
  }

  @Test
  void impossibleIntentsAreRefused() {
    long word = VersionWord.first(1, false);
    long[][] intents = {
      {3, 3, 3, word}, {3, 19, 3, word}, {2, 4, 3, word}, {3, 1L << 40, 3, word}, {-1, 4, 3, word}
    };
    for (long[] intent : intents) {
      PlainMemory memory = new PlainMemory(HashTable.bytesFor(64));
      HashTable.create(memory, 64, counter);
      put(memory, 3, 3, word);
      putIntent(memory, intent[0], intent[1], intent[2], intent[3]);
      assertThrows(DamagedTableException.class, () -> HashTable.open(memory, counter));
    }
    PlainMemory memory = new PlainMemory(HashTable.bytesFor(64));
    HashTable.create(memory, 64, counter);
    put(memory, 3, 67, VersionWord.first(2, false));
    putIntent(memory, 3, 4, 3, word);
    assertThrows(DamagedTableException.class, () -> HashTable.open(memory, counter));
    put(memory, 3, 3, 0);
    assertThrows(
        DamagedTableException.class, () -> HashTable.open(memory, counter), "the entry is nowhere");
  }

  /**
   * No crash leaves this, since the intent is cleared before any other word store; still, a newer
   * word is never overwritten.
   */
  @Test
  void aFinishedMoveIsNotReplayed() {
    PlainMemory memory = new PlainMemory(HashTable.bytesFor(64));
    HashTable.create(memory, 64, counter);
    long word = VersionWord.first(1, false);
    long newer = VersionWord.update(word, 2, false);
    putIntent(memory, 3, 4, 3, word);
    put(memory, 3, 3, 0);
    put(memory, 4, 3, newer);
    List<TableFinding> findings = new ArrayList<>();
    HashTable.check(memory.segment(), findings::add);
    assertEquals(List.of(new TableFinding.InterruptedMove(3, 4, 3, word)), findings);
    counter.value = 7;
    HashTable table = HashTable.open(memory, counter);
    assertEquals(newer, table.versionWord(4));
    assertEquals(0, table.keyWord(3));
    assertEquals(8, counter.value);
    assertEquals(List.of(), findings(table));
  }

  @Test
  void openRaisesTheCounterWhateverItFinds() {
    PlainMemory memory = new PlainMemory(HashTable.bytesFor(64));
    HashTable.create(memory, 64, counter);
    for (long value : new long[] {0, 1, 10, 11}) {
      counter.value = value;
      HashTable.open(memory, counter);
      assertTrue(counter.value > value && (counter.value & 1) == 0);
    }
  }

  @Test
  void aPinnedEntryIsLockedUntilItIsChangedOrUnpinned() {
    HashTable table = create(16);
    table.share();
    long word = VersionWord.update(VersionWord.first(1, false), 2, false);
    long slot = table.insert(0x100L, word);
    assertEquals(word, table.pin(slot));
    assertTrue(VersionWord.isLocked(table.versionWord(slot)));
    table.unpin();
    assertEquals(word, table.versionWord(slot));
    assertEquals(word, table.pin(slot));
    long next = VersionWord.update(word, 3, false);
    assertTrue(table.storeWord(slot, 0x100L, word, next));
    table.unpin();
    assertEquals(next, table.versionWord(slot));
    assertEquals(next, table.pin(slot));
    assertTrue(table.remove(slot, 0x100L, next));
    table.unpin();
    assertEquals(0, table.versionWord(slot));
    assertEquals(0, table.pin(slot), "a free entry");
    assertEquals(0, table.size());
  }

  /** Keys come and go, entries are displaced: a barred slot keeps its entry, or gets none. */
  @Test
  void aBarredSlotGetsNoOtherEntry() {
    for (int run = 0; run < 200; run++) {
      SplittableRandom random = new SplittableRandom(SEED + run);
      HashTable table = create(16);
      long barred = random.nextInt(20);
      long before = 0;
      boolean barring = false;
      List<Long> keys = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        if (i == 20) {
          table.bar(new long[] {barred});
          barring = true;
          before = table.versionWord(barred) == 0 ? 0 : table.keyWord(barred);
        }
        if (keys.size() > 8 && random.nextBoolean()) {
          long gone = keys.remove(random.nextInt(keys.size()));
          long slot = table.find(gone, (_, _) -> true);
          assertTrue(table.empty(slot, gone, table.versionWord(slot)));
          before = slot == barred ? 0 : before;
        } else {
          long keyWord = random.nextLong() & -1L >>> 8 | 1L << 20;
          long staged = random.nextBoolean() ? table.stage(keyWord) : HashTable.NONE;
          long word = VersionWord.first(8 + i, false);
          boolean inserted =
              staged == HashTable.NONE
                  ? table.insert(keyWord, word) != HashTable.NONE
                  : table.insertStaged(staged, keyWord, word);
          if (inserted) {
            keys.add(keyWord);
          }
        }
        if (barring) {
          long now = table.versionWord(barred) == 0 ? 0 : table.keyWord(barred);
          assertEquals(before, now, "run " + run);
        }
      }
      assertEquals(List.of(), findings(table));
    }
  }
}
