package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.hashtable.ResizingExplorer.Driver;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * No crash while a table is halved, or while a halving that finds no room turns round, and no crash
 * of the recovery after it, loses, doubles or revives a key.
 */
class HalvingCrashTest {
  private static final long SEED = Long.getLong("erda.seed", 1);
  private static final long BUCKETS = 16;

  @Test
  void movesAndGoesOn() {
    explore(DoublingCrashTest::fill, DoublingCrashTest::moveAndGoOn);
  }

  /** Two home buckets become one: what is moved there displaces others. */
  @Test
  void movesIntoACrowd() {
    explore(HalvingCrashTest::crowd, DoublingCrashTest::moveCrowd);
  }

  static void crowd(Driver driver) {
    for (int i = 0; i < 4; i++) {
      driver.insertOld(driver.key(i + 8L * (i % 2), i), false);
    }
    for (int i = 0; i < 15; i++) {
      driver.insert(driver.key(Math.max(0, i - 2), 100 + i), false);
    }
  }

  /** The process died before event k of a stretch, for every k; recovery is part of the script. */
  @Test
  void recoversAndGoesOn() {
    for (int event = 0; event < 60; event += 5) {
      int at = event;
      explore(
          driver -> {
            DoublingCrashTest.fill(driver);
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

  /** Some entries were moved, one of them was updated and one emptied since; then it turns. */
  @Test
  void turnsRound() {
    explore(HalvingCrashTest::halveInPart, HalvingCrashTest::turnAndGoOn);
  }

  static void halveInPart(Driver driver) {
    DoublingCrashTest.fill(driver);
    driver.move(8);
    driver.update(driver.key(1, 1), false);
    driver.empty(driver.key(2, 2));
    driver.insert(driver.key(3, 3), false);
  }

  static void turnAndGoOn(Driver driver) {
    driver.turn();
    driver.insert(driver.key(2, 2), false);
    driver.move(6);
    driver.update(driver.key(1, 1), false);
    driver.update(driver.key(9, 9), false);
  }

  /**
   * The process died before event k of the turn, for every k; another one halves and turns again.
   */
  @Test
  void diesWhileItTurns() {
    for (int event = 0; event < 90; event += 3) {
      int at = event;
      explore(
          driver -> {
            halveInPart(driver);
            driver.dieWithin(at, driver::turn);
          },
          driver -> {
            driver.update(driver.key(1, 1), false);
            driver.move(4);
            driver.update(driver.key(9, 9), false);
          });
    }
  }

  /** Seventeen keys of two buckets that become one do not fit: the explorer's end turns round. */
  @Test
  void whatDoesNotFitIsMovedBack() {
    explore(
        driver -> {
          for (int i = 0; i < 17; i++) {
            driver.insertOld(driver.key(i % 2 == 0 ? 2 : 10, i), false);
          }
        },
        driver -> {
          driver.move(16);
          driver.update(driver.key(2, 0), false);
        });
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
              BUCKETS / 2,
              seed,
              driver -> {
                DoublingCrashTest.fill(driver);
                driver.dieWithin(event, () -> DoublingCrashTest.steps(driver, before));
              },
              driver -> DoublingCrashTest.steps(driver, after))
          .explore();
    }
  }

  private static void explore(Consumer<Driver> setup, Consumer<Driver> script) {
    ResizingExplorer explorer = new ResizingExplorer(BUCKETS, BUCKETS / 2, SEED, setup, script);
    explorer.explore();
    assertTrue(explorer.cases() > 10, "too few cases: " + explorer.cases());
  }
}
