package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.hashtable.ResizingExplorer.Driver;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * No crash while a table is doubled, and no crash of the recovery after it, loses, doubles or
 * revives a key.
 */
class DoublingCrashTest {
  private static final long SEED = Long.getLong("erda.seed", 1);
  private static final long BUCKETS = 16;

  /** Twelve entries, one of them pending, one emptied. */
  static void fill(Driver driver) {
    for (int i = 0; i < 12; i++) {
      driver.insertOld(driver.key(i, i), i == 5);
    }
    driver.empty(driver.key(3, 3));
  }

  /** The new table is so full around bucket 0 that what is moved there displaces others. */
  static void crowd(Driver driver) {
    for (int i = 0; i < 4; i++) {
      driver.insertOld(driver.key(i, i), false);
    }
    for (int i = 0; i < 17; i++) {
      driver.insert(driver.key(Math.max(0, i - 2), 100 + i), false);
    }
  }

  static void moveAndGoOn(Driver driver) {
    driver.move(6);
    driver.update(driver.key(1, 1), false);
    driver.update(driver.key(9, 9), false);
    driver.insert(driver.key(3, 3), false);
    driver.empty(driver.key(2, 2));
    driver.move(6);
    driver.update(driver.key(8, 8), true);
    driver.commit(driver.key(8, 8));
  }

  static void moveCrowd(Driver driver) {
    driver.move(3);
    driver.update(driver.key(0, 0), false);
    driver.update(driver.key(0, 100), false);
  }

  @Test
  void movesAndGoesOn() {
    explore(DoublingCrashTest::fill, DoublingCrashTest::moveAndGoOn);
  }

  @Test
  void movesIntoACrowd() {
    explore(DoublingCrashTest::crowd, DoublingCrashTest::moveCrowd);
  }

  /** The process died before event k of a stretch, for every k; recovery is part of the script. */
  @Test
  void recoversAndGoesOn() {
    for (int event = 0; event < 60; event++) {
      int at = event;
      explore(
          driver -> {
            fill(driver);
            driver.dieWithin(at, () -> driver.move(4));
          },
          driver -> {
            driver.update(driver.key(1, 1), false);
            driver.move(4);
            driver.update(driver.key(2, 2), false);
          });
    }
  }

  /** A process died with an update, and an emptying, that are not drained. */
  @Test
  void inheritedFromAProcessThatDied() {
    explore(DoublingCrashTest::fillAndInherit, DoublingCrashTest::moveInherited);
  }

  static void fillAndInherit(Driver driver) {
    fill(driver);
    driver.dieWithin(1, () -> driver.update(driver.key(1, 1), false));
    driver.dieWithin(1, () -> driver.empty(driver.key(2, 2)));
  }

  static void moveInherited(Driver driver) {
    driver.insert(driver.key(2, 2), false);
    driver.move(4);
    driver.update(driver.key(1, 1), false);
  }

  @Test
  void randomScripts() {
    for (long seed = SEED; seed < SEED + Integer.getInteger("erda.crashScripts", 3); seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      long before = random.nextLong();
      long after = random.nextLong();
      int event = random.nextInt(80);
      new ResizingExplorer(
              BUCKETS,
              2 * BUCKETS,
              seed,
              driver -> {
                fill(driver);
                driver.dieWithin(event, () -> steps(driver, before));
              },
              driver -> steps(driver, after))
          .explore();
    }
  }

  static void steps(Driver driver, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 6; i++) {
      if (random.nextInt(2) == 0) {
        driver.move(1 + random.nextInt(8));
      } else {
        driver.anyStep(random);
      }
    }
  }

  private static void explore(Consumer<Driver> setup, Consumer<Driver> script) {
    ResizingExplorer explorer = new ResizingExplorer(BUCKETS, 2 * BUCKETS, SEED, setup, script);
    explorer.explore();
    assertTrue(explorer.cases() > 20, "too few cases: " + explorer.cases());
  }
}
