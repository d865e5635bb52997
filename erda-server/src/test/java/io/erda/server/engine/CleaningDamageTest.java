package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.erda.hashtable.HashTable;
import io.erda.hashtable.VersionWord;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.Survives;
import org.junit.jupiter.api.Test;

/** Cleaning meets words that nobody stored. */
class CleaningDamageTest {
  private final HeapDirectory disk = new HeapDirectory(1 << 23, Survives.PROCESS_CRASH);

  /**
   * Found by simulation seed 9005993: the tag bit of an entry's only version flipped, so that its
   * word has an older version and no newest one. It ended the server.
   */
  @Test
  void aWordWithoutNewestVersionStaysForTheCheckToName() {
    CleaningCrashTest.fill(disk);
    StoreHarness store = StoreHarness.open(disk.anotherView(), CleaningCrashTest.SMALL);
    Tables.Generation tables = store.engine.tables().current();
    HashTable table = tables.table();
    long slot = 0;
    while (table.versionWord(slot) == 0
        || VersionWord.older(table.versionWord(slot)) != VersionWord.NONE) {
      slot++;
    }
    long damaged = table.versionWord(slot) ^ Long.MIN_VALUE;
    assertEquals(VersionWord.NONE, VersionWord.newest(damaged));
    int named = VersionWord.older(damaged);
    tables.memory().putLongRelease(HashTable.entriesOffset() + slot * 16 + 8, damaged);
    CleaningCrashTest.clean(store);
    assertEquals(damaged, table.versionWord(slot));
    assertNotNull(store.engine.log().region(0, named), "the region that it names is gone");
    assertEquals(1, store.findings().size(), () -> store.findings().toString());
  }
}
