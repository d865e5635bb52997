package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * While entries are moved to another table an insertion leaves room for those of its bucket that
 * are still to come: the resizing could not end otherwise, or would have to turn round.
 */
class CrowdedBucketTest {
  private static final long BUCKETS = 64;
  private static final long HOME = 3;

  /** That are looked at in one step: half of a neighbourhood. */
  private static final int SLOTS = 8;

  private final StructureCounter counter = new CrashExplorer.NoCounter();

  private HashTable table(long buckets) {
    return HashTable.create(new PlainMemory(HashTable.bytesFor(buckets)), buckets, counter);
  }

  /** Key words that share a home in a table of so many buckets, and have two in a larger one. */
  private static long key(int number, long buckets) {
    return (long) (number + 1) << 32 | number % 2 * buckets | HOME;
  }

  /**
   * Sixteen keys that share a bucket of the new table come first, half of which are moved.
   *
   * @param newBuckets of the new table; in a smaller one two buckets become one
   */
  @ParameterizedTest
  @ValueSource(longs = {BUCKETS / 2, 2 * BUCKETS})
  void aKeyTooManyIsRefusedUntilAllAreMoved(long newBuckets) {
    HashTable from = table(BUCKETS);
    HashTable to = table(newBuckets);
    for (int i = 0; i < Neighbourhood.ENTRIES; i++) {
      from.insert(key(i, newBuckets), VersionWord.first(i + 1, false));
    }
    Resizing resizing = Resizing.open(from, to);
    long oneMore = key(Neighbourhood.ENTRIES, newBuckets);
    long another = oneMore ^ 1;
    while (!resizing.done()) {
      assertTrue(resizing.isCrowded(oneMore));
      assertEquals(HashTable.NONE, resizing.stage(oneMore));
      assertEquals(HashTable.NONE, resizing.insert(oneMore, VersionWord.first(100, false)));
      assertFalse(resizing.isCrowded(another));
      resizing.doWork(SLOTS, (slot, keyWord, word) -> {});
      assertFalse(resizing.stuck() || resizing.metNoRoom(), "entries are left that do not fit");
    }
    assertNotEquals(HashTable.NONE, resizing.insert(another, VersionWord.first(200, false)));
    for (int i = 0; i < Neighbourhood.ENTRIES; i++) {
      long word = VersionWord.first(i + 1, false);
      assertNotEquals(
          HashTable.NONE, to.find(key(i, newBuckets), (slot, found) -> found == word), "key " + i);
    }
  }
}
