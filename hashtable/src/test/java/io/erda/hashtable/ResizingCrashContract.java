package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.hashtable.ResizingExplorer.Driver;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * No crash while a table is resized, and no crash of the recovery after it, loses, doubles or
 * revives a key: what holds in both directions.
 */
abstract class ResizingCrashContract {
  static final long BUCKETS = 16;

  private static final long SEED = Long.getLong("erda.seed", 1);

  /** Events of a stretch of four slots that hold an entry each are fewer. */
  private static final int EVENTS_OF_STRETCH = 60;

  private final long newBuckets;
  private final int casesMin;
  private final int eventStep;

  /**
   * @param newBuckets of the table that the one of {@link #BUCKETS} is resized into
   * @param casesMin states that a script leaves at least
   * @param eventStep of so many events of a stretch one is a process's last
   */
  ResizingCrashContract(long newBuckets, int casesMin, int eventStep) {
    this.newBuckets = newBuckets;
    this.casesMin = casesMin;
    this.eventStep = eventStep;
  }

  /** Fills the new table so that entries that are moved to bucket 0 displace others. */
  abstract void crowd(Driver driver);

  @Test
  void movesAndGoesOn() {
    explore(ResizingScripts::fill, ResizingScripts::moveAndGoOn);
  }

  @Test
  void movesIntoACrowd() {
    explore(this::crowd, ResizingScripts::moveCrowd);
  }

  /** The process died before event k of a stretch; recovery is part of the script. */
  @Test
  void recoversAndGoesOn() {
    for (int event = 0; event < EVENTS_OF_STRETCH; event += eventStep) {
      int at = event;
      explore(
          driver -> {
            ResizingScripts.fill(driver);
            driver.dieWithin(at, () -> driver.move(4));
          },
          ResizingScripts::updateAndMove);
    }
  }

  @Test
  void inheritedFromAProcessThatDied() {
    explore(ResizingScripts::fillAndInherit, ResizingScripts::moveInherited);
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
              newBuckets,
              seed,
              driver -> {
                ResizingScripts.fill(driver);
                driver.dieWithin(event, () -> ResizingScripts.steps(driver, before));
              },
              driver -> ResizingScripts.steps(driver, after))
          .explore();
    }
  }

  final void explore(Consumer<Driver> setup, Consumer<Driver> script) {
    ResizingExplorer explorer = new ResizingExplorer(BUCKETS, newBuckets, SEED, setup, script);
    explorer.explore();
    assertTrue(explorer.cases() > casesMin, "too few cases: " + explorer.cases());
  }
}
