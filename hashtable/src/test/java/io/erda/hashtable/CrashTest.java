package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.hashtable.CrashExplorer.Driver;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * No crash of a script of operations, and no crash of the recovery after it, loses or doubles a
 * key.
 */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class CrashTest {
  static final long SEED = Long.getLong("erda.seed", 1);
  static final long BUCKETS = 64;
  static final int FILLED = 41;

  /**
   * Slot s holds a key of bucket s - 2, so that an insertion at bucket 0 needs two displacements:
   * 28 to 41, 15 to 28.
   */
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

  /** Several keys at once: some lie apart, two in one neighbourhood, and one is not wanted. */
  static void insertSeveral(Driver driver) {
    driver.insertStaged(3, () -> {}, several(driver));
    driver.commit(several(driver)[0]);
    driver.empty(several(driver)[1]);
    driver.insert(driver.key(48, 124), false);
  }

  private static long[] several(Driver driver) {
    return new long[] {
      driver.key(45, 120), driver.key(46, 121), driver.key(60, 122), driver.key(47, 123)
    };
  }

  /** Another insertion clears the key words that are left in its neighbourhood. */
  static void clearStaged(Driver driver) {
    driver.insertStaged(
        2,
        () -> driver.insert(driver.key(45, 125), false),
        driver.key(50, 120),
        driver.key(52, 121),
        driver.key(53, 122));
    driver.update(driver.key(52, 121), true);
  }

  /** The first slot that is staged is that to which the displacement moves an entry. */
  static void displaceStaged(Driver driver) {
    driver.insertStaged(
        3,
        () -> displace(driver),
        driver.key(40, 120),
        driver.key(41, 121),
        driver.key(41, 122),
        driver.key(42, 123));
    driver.update(keyAtStart(driver, 15), false);
    driver.commit(driver.key(40, 120));
    driver.update(driver.key(40, 120), true);
  }

  /** Removals; what is removed comes back in another slot, in one below, and in the same. */
  static void removeAndBringBack(Driver driver) {
    driver.remove(keyAtStart(driver, 9));
    driver.insert(driver.key(9, 109), false);
    driver.insert(keyAtStart(driver, 9), false);
    driver.remove(keyAtStart(driver, 9));
    driver.insert(keyAtStart(driver, 9), false);
    driver.remove(keyAtStart(driver, 12));
    driver.insert(driver.key(10, 112), false);
    driver.remove(keyAtStart(driver, 10));
    driver.insert(keyAtStart(driver, 12), false);
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

  /**
   * A process dies with words that are not drained: the destination of the next displacement is
   * emptied, up to its version word (event 1) or its key word (event 4), and its source updated.
   */
  static Consumer<Driver> fillAndInherit(int event) {
    return driver -> {
      fill(driver);
      long atDestination = driver.key(39, 200);
      driver.insert(atDestination, false);
      driver.dieWithin(event, () -> driver.empty(atDestination));
      driver.dieWithin(1, () -> driver.update(keyAtStart(driver, 28), false));
    };
  }

  static void displace(Driver driver) {
    driver.insert(driver.key(0, 100), false);
  }

  /** Two processes die after the first store of emptying slot 9, and slot 12. */
  static void fillAndInheritFree(Driver driver) {
    fill(driver);
    driver.dieWithin(1, () -> driver.empty(keyAtStart(driver, 9)));
    driver.dieWithin(1, () -> driver.empty(keyAtStart(driver, 12)));
  }

  /** Another key in slot 9, slot 9's key in slot 12, and slot 12's by displacement. */
  static void bringBack(Driver driver) {
    driver.insert(driver.key(9, 109), false);
    driver.insert(keyAtStart(driver, 9), false);
    driver.insert(keyAtStart(driver, 12), false);
  }

  /** Slot 12's key comes back in slot 10, which a live process emptied. */
  static void bringBackBelow(Driver driver) {
    driver.empty(keyAtStart(driver, 10));
    driver.insert(keyAtStart(driver, 12), false);
  }

  @Test
  void displacement() {
    explore(CrashTest::fill, CrashTest::displaceAndGoOn);
  }

  @Test
  void insertionUpdateEmptyingRollback() {
    explore(CrashTest::fill, CrashTest::everyday);
  }

  @Test
  void insertionsOfSeveral() {
    explore(CrashTest::fill, CrashTest::insertSeveral);
    explore(fillAndInherit(1), CrashTest::insertSeveral);
    explore(CrashTest::fill, CrashTest::clearStaged);
    explore(CrashTest::fill, CrashTest::displaceStaged);
    explore(fillAndInherit(1), CrashTest::displaceStaged);
  }

  @Test
  void whatWasSeenToBeRemovedStaysRemoved() {
    explore(CrashTest::fill, CrashTest::removeAndBringBack);
    explore(fillAndInherit(1), CrashTest::removeAndBringBack);
    for (int event = 0; event <= 24; event++) {
      explore(diedWithinRemoval(event), CrashTest::finishRemovalAndBringBack);
    }
  }

  private static void finishRemovalAndBringBack(Driver driver) {
    if (driver.isThere(keyAtStart(driver, 9))) {
      driver.remove(keyAtStart(driver, 9));
    }
    driver.insert(driver.key(9, 109), false);
    driver.insert(keyAtStart(driver, 9), false);
  }

  private static Consumer<Driver> diedWithinRemoval(int event) {
    return driver -> {
      fill(driver);
      driver.dieWithin(event, () -> driver.remove(keyAtStart(driver, 9)));
    };
  }

  @Test
  void displacementOverUsedSlots() {
    explore(CrashTest::fill, CrashTest::displaceAgain);
  }

  @Test
  void inheritedFromAProcessThatDied() {
    explore(fillAndInherit(1), CrashTest::displace);
    explore(fillAndInherit(4), CrashTest::displace);
    explore(CrashTest::fillAndInheritFree, CrashTest::bringBack);
    explore(CrashTest::fillAndInheritFree, CrashTest::bringBackBelow);
  }

  /**
   * The process died before event k of the first displacement, for every k; recovery is the
   * script's first part now.
   */
  @Test
  void recoveryThenWork() {
    for (int event = 0; event <= DISPLACEMENT_EVENTS; event++) {
      explore(diedWithinDisplacement(event), CrashTest::fillLeftSlot);
    }
    for (int event : new int[] {10, 15, 19, 25}) {
      explore(diedWithinDisplacement(event), CrashTest::updateMovedEntry);
    }
  }

  /**
   * Events of the first displacement, the counter's store and flush among them: 0 … 4 record, 5 … 8
   * flushed and drained, 9 … 11 valid word, 12 counter, 14 … 17 destination, 18 … 21 source, 22
   * counter, 24 … 26 valid word cleared.
   */
  static final int DISPLACEMENT_EVENTS = 27;

  static Consumer<Driver> diedWithinDisplacement(int event) {
    return driver -> {
      fill(driver);
      driver.dieWithin(event, () -> driver.insert(driver.key(0, 100), false));
    };
  }

  /** Works on the entry that was being moved, and fills the slot it came from. */
  static void updateMovedEntry(Driver driver) {
    driver.update(keyAtStart(driver, 28), false);
    driver.insert(driver.key(26, 107), false);
    driver.insert(driver.key(26, 108), false);
  }

  /** Fills the slot that the entry came from first, and works on the entry then. */
  static void fillLeftSlot(Driver driver) {
    driver.insert(driver.key(26, 107), false);
    driver.update(keyAtStart(driver, 28), false);
  }

  /**
   * Random scripts, on what a process left that died within another random script. More of them
   * with -Derda.crashScripts=N.
   */
  @Test
  void randomScripts() {
    for (long seed = SEED; seed < SEED + Integer.getInteger("erda.crashScripts", 2); seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      long before = random.nextLong();
      long after = random.nextLong();
      int event = random.nextInt(60);
      Consumer<Driver> setup =
          driver -> {
            fill(driver);
            driver.dieWithin(event, () -> steps(driver, before, 300));
          };
      new CrashExplorer(BUCKETS, seed, setup, driver -> steps(driver, after, 400)).explore();
    }
  }

  private static void steps(Driver driver, long seed, int number) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 8; i++) {
      driver.anyStep(random, number + i);
    }
  }

  private static void explore(Consumer<Driver> setup, Consumer<Driver> script) {
    CrashExplorer explorer = new CrashExplorer(BUCKETS, SEED, setup, script);
    explorer.explore();
    assertTrue(explorer.cases() > 100, "too few cases: " + explorer.cases());
  }
}
