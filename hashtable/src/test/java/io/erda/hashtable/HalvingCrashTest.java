package io.erda.hashtable;

import io.erda.hashtable.ResizingExplorer.Driver;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * No crash while a table is halved, or while a halving that finds no room turns round, and no crash
 * of the recovery after it, loses, doubles or revives a key.
 */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class HalvingCrashTest extends ResizingCrashContract {
  HalvingCrashTest() {
    super(BUCKETS / 2, 10, 5);
  }

  /** Two home buckets become one. */
  @Override
  void crowd(Driver driver) {
    for (int i = 0; i < 4; i++) {
      driver.insertOld(driver.key(i + 8L * (i % 2), i), false);
    }
    for (int i = 0; i < 15; i++) {
      driver.insert(driver.key(Math.max(0, i - 2), 100 + i), false);
    }
  }

  /** Some entries were moved, one of them was updated and one emptied since; then it turns. */
  @Test
  void turnsRound() {
    explore(HalvingCrashTest::halveInPart, HalvingCrashTest::turnAndGoOn);
  }

  static void halveInPart(Driver driver) {
    ResizingScripts.fill(driver);
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
   * The process died before event k of the turn, for every third k; another one halves and turns
   * again.
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
}
