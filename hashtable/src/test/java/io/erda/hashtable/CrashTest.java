package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.hashtable.CrashExplorer.Driver;
import org.junit.jupiter.api.Test;

/** No crash of a script of operations, and no crash of the recovery after it, loses or doubles a key. */
class CrashTest {
  static final long SEED = Long.getLong("erda.seed", 1);
  static final long BUCKETS = 64;
  static final int FILLED = 41;

  /** Slot s holds a key of bucket s - 2, so that an insertion at bucket 0 needs two displacements: 28 to 41, 15 to 28. */
  static void fill(Driver driver) {
    for (int slot = 0; slot < FILLED; slot++) {
      driver.insert(driver.key(Math.max(0, slot - 2), slot), false);
    }
  }

  static long keyAtStart(Driver driver, int slot) {
    return driver.key(Math.max(0, slot - 2), slot);
  }

  /** Two displacements, then the moved entries and the new one live on. */
  static void displaceAndGoOn(Driver driver) {
    long key = driver.key(0, 100);
    driver.insert(key, true);
    driver.commit(key);
    driver.update(keyAtStart(driver, 15), false);
    driver.update(keyAtStart(driver, 28), false);
    driver.update(key, false);
  }

  /** Everything but displacement. */
  static void everyday(Driver driver) {
    long first = keyAtStart(driver, 5);
    driver.update(first, true);
    driver.commit(first);
    driver.update(first, true);
    driver.rollback(first);
    driver.empty(first);
    driver.insert(driver.key(1, 101), false);
    driver.insert(driver.key(60, 102), true);
    driver.rollback(driver.key(60, 102));
    driver.insert(driver.key(60, 103), true);
    driver.commit(driver.key(60, 103));
  }

  /** Displacement into a slot and out of a slot that were used and emptied before. */
  static void displaceAgain(Driver driver) {
    driver.insert(driver.key(0, 100), false);
    driver.empty(keyAtStart(driver, 28));
    driver.empty(driver.key(0, 100));
    driver.insert(driver.key(0, 104), false);
    driver.insert(driver.key(0, 105), false);
    driver.update(keyAtStart(driver, 15), false);
  }

  @Test
  void displacement() {
    explore(CrashTest::displaceAndGoOn);
  }

  @Test
  void insertionUpdateEmptyingRollback() {
    explore(CrashTest::everyday);
  }

  @Test
  void displacementOverUsedSlots() {
    explore(CrashTest::displaceAgain);
  }

  private static void explore(java.util.function.Consumer<Driver> script) {
    CrashExplorer explorer = new CrashExplorer(BUCKETS, SEED, CrashTest::fill, script);
    explorer.explore();
    System.out.println("cases " + explorer.cases());
    assertTrue(explorer.cases() > 100, "too few cases: " + explorer.cases());
  }
}
