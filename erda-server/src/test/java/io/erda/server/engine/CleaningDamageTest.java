package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.erda.hashtable.HashTable;
import io.erda.hashtable.VersionWord;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.Survives;
import io.erda.server.engine.tables.Tables;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Cleaning finds words that were never stored. */
class CleaningDamageTest {
  private final HeapDirectory disk = new HeapDirectory(1 << 23, Survives.PROCESS_CRASH);

  /**
   * Found by simulation seed 9005993: the tag bit of an entry's only version flipped, so that its
   * word has an older version and no newest one. It ended the server.
   *
   * @param tag of the word that is left; with the tag bit alone it is not 0 without that version,
   *     either, and the version went
   */
  @ParameterizedTest
  @ValueSource(longs = {0, Long.MIN_VALUE})
  void aWordWithoutNewestVersionStaysForTheCheckToName(long tag) {
    CleaningCrashTest.fill(disk);
    StoreHarness store = StoreHarness.open(disk.anotherView(), CleaningCrashTest.SMALL);
    Tables.Generation tables = store.engine.tables().current();
    HashTable table = tables.table();
    long slot = 0;
    while (table.versionWord(slot) == 0
        || VersionWord.older(table.versionWord(slot)) != VersionWord.NONE) {
      slot++;
    }
    int named = VersionWord.newest(table.versionWord(slot));
    long damaged = VersionWord.withOlder(tag, named);
    assertEquals(VersionWord.NONE, VersionWord.newest(damaged));
    tables.memory().putLongRelease(HashTable.entriesOffset() + slot * 16 + 8, damaged);
    CleaningCrashTest.clean(store);
    assertEquals(damaged, table.versionWord(slot));
    assertNotNull(store.engine.log().region(0, named), "the region that it names is gone");
    assertEquals(1, store.findings().size(), () -> store.findings().toString());
  }
}
