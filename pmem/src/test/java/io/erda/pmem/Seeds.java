package io.erda.pmem;

import java.util.SplittableRandom;

/** Runs randomised checks; a failure names its seed. */
final class Seeds {
  /** A check that may fail. */
  @FunctionalInterface
  interface Check {
    void run(SplittableRandom random) throws Exception;
  }

  private static final String PROPERTY = "erda.seed";

  private Seeds() {}

  /** With the seed of the command line, else with a few that differ from run to run. */
  static void check(int runs, Check check) {
    String given = System.getProperty(PROPERTY);
    if (given != null) {
      run(Long.parseLong(given), check);
      return;
    }
    SplittableRandom seeds = new SplittableRandom();
    for (int i = 0; i < runs; i++) {
      run(seeds.nextLong(), check);
    }
  }

  private static void run(long seed, Check check) {
    try {
      check.run(new SplittableRandom(seed));
    } catch (Exception | AssertionError e) {
      throw new AssertionError("seed " + seed + "; replay with -D" + PROPERTY + "=" + seed, e);
    }
  }
}
