package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Another writer replaces words between any two accesses of the server. No word of it is lost, and
 * no crash of the server loses or doubles a key, or brings an older version back.
 */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class OtherWriterTest {
  private static final int ROUNDS = Integer.getInteger("erda.crashScripts", 1);

  private static void explore(
      Consumer<CrashExplorer.Driver> setup, Consumer<CrashExplorer.Driver> script) {
    for (int round = 1; round <= ROUNDS; round++) {
      CrashExplorer explorer =
          new CrashExplorer(CrashTest.BUCKETS, CrashTest.SEED, setup, script)
              .besideAnotherWriter(CrashTest.SEED * 1000 + round);
      explorer.explore();
      assertTrue(explorer.cases() > 100, "too few cases: " + explorer.cases());
    }
  }

  @Test
  void entriesAreDisplaced() {
    explore(CrashTest::fill, CrashTest::displaceAndGoOn);
    explore(CrashTest::fill, CrashTest::displaceAgain);
  }

  @Test
  void entriesAreInsertedUpdatedAndEmptied() {
    explore(CrashTest::fill, CrashTest::everyday);
    explore(CrashTest::fill, CrashTest::insertSeveral);
  }

  @Test
  void whatWasSeenToBeRemovedStaysRemoved() {
    explore(CrashTest::fill, CrashTest::removeAndBringBack);
  }

  @ParameterizedTest
  @ValueSource(longs = {8, 32})
  void entriesMoveToAnotherTable(long newBuckets) {
    for (int round = 1; round <= ROUNDS; round++) {
      ResizingExplorer explorer =
          new ResizingExplorer(
                  ResizingCrashContract.BUCKETS,
                  newBuckets,
                  CrashTest.SEED,
                  ResizingScripts::fill,
                  ResizingScripts::moveAndGoOn)
              .besideAnotherWriter(CrashTest.SEED * 1000 + round);
      explorer.explore();
      assertTrue(explorer.cases() > 100, "too few cases: " + explorer.cases());
    }
  }
}
