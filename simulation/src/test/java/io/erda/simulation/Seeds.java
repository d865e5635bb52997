package io.erda.simulation;

import java.util.function.LongConsumer;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Runs a randomised test with many seeds, or with the seed of {@code -Derda.seed}, and names the
 * seed that failed.
 */
public final class Seeds {
  private Seeds() {}

  /** The generator that a seed means everywhere in this module. */
  public static RandomGenerator random(long seed) {
    return RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
  }

  public static void each(int count, LongConsumer test) {
    Long only = Long.getLong("erda.seed");
    for (long seed = only == null ? 1 : only; seed <= (only == null ? count : only); seed++) {
      try {
        test.accept(seed);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(
            "seed " + seed + " (replay: -Derda.seed=" + seed + "): " + e.getMessage(), e);
      }
    }
  }
}
