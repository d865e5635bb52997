package io.erda.hashtable;

import io.erda.hashtable.ResizingExplorer.Driver;

/**
 * No crash while a table is doubled, and no crash of the recovery after it, loses, doubles or
 * revives a key. The process that was recovered from died before every event of a stretch.
 */
class DoublingCrashTest extends ResizingCrashContract {
  DoublingCrashTest() {
    super(2 * BUCKETS, 20, 1);
  }

  @Override
  void crowd(Driver driver) {
    for (int i = 0; i < 4; i++) {
      driver.insertOld(driver.key(i, i), false);
    }
    for (int i = 0; i < 17; i++) {
      driver.insert(driver.key(Math.max(0, i - 2), 100 + i), false);
    }
  }
}
