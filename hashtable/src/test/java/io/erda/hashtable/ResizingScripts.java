package io.erda.hashtable;

import io.erda.hashtable.ResizingExplorer.Driver;
import java.util.SplittableRandom;

/**
 * Scripts of operations on two tables while entries are moved from one into the other, in both
 * directions.
 */
final class ResizingScripts {
  private ResizingScripts() {}

  /** Twelve entries, one of them pending, one emptied. */
  static void fill(Driver driver) {
    for (int i = 0; i < 12; i++) {
      driver.insertOld(driver.key(i, i), i == 5);
    }
    driver.empty(driver.key(3, 3));
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

  /** Operations after a recovery of a stretch of four slots. */
  static void updateAndMove(Driver driver) {
    driver.update(driver.key(1, 1), false);
    driver.move(4);
    driver.update(driver.key(2, 2), false);
  }

  /** A process died with an update, and an emptying, that are not drained. */
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
}
