package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** A doubling meets entries whose key word is damaged. */
class DoublingDamageTest {
  private static final long BUCKETS = 8;
  private static final long SOUND = 0x100L | 3;
  private static final long DAMAGED = 0x200L | 5;

  private final PlainMemory memory = new PlainMemory(HashTable.bytesFor(BUCKETS));
  private final HashTable from = HashTable.create(memory, BUCKETS, new CrashExplorer.NoCounter());
  private final HashTable to =
      HashTable.create(
          new PlainMemory(HashTable.bytesFor(2 * BUCKETS)),
          2 * BUCKETS,
          new CrashExplorer.NoCounter());

  /** Found by simulation seed 503074: the server ended with an exception. */
  @Test
  void anEntryWithoutKeyWordStaysForTheCheckToName() {
    staysWithKeyWord(0);
  }

  @Test
  void anEntryOutOfPlaceStaysForTheCheckToName() {
    staysWithKeyWord(DAMAGED | 7);
  }

  private void staysWithKeyWord(long wrong) {
    from.insert(SOUND, VersionWord.first(64, false));
    long slot = from.insert(DAMAGED, VersionWord.first(128, false));
    memory.putLongRelease(TableLayout.entryOffset(slot) + Entry.KEY_WORD_OFFSET, wrong);
    Resizing doubling = Resizing.open(from, to);
    for (int i = 0; i < 100 && !doubling.stuck(); i++) {
      assertTrue(doubling.doWork(4, (at, keyWord, word) -> {}) > 0);
    }
    assertTrue(doubling.stuck());
    assertFalse(doubling.done());
    assertEquals(VersionWord.first(128, false), from.versionWord(slot));
    assertTrue(to.find(SOUND, (at, word) -> true) != HashTable.NONE);
  }
}
