package io.erda.simulation.mutants;

import io.erda.simulation.system.Configuration;
import io.erda.simulation.system.SystemSimulation;
import java.util.SplittableRandom;
import java.util.function.LongFunction;

/**
 * What a seed comes to in a store whose puts announce first, whatever the seed drew. As {@link
 * PatchedSeed}, lives in a {@link PatchedLoader}.
 */
public final class AnnouncingSeed implements LongFunction<String> {
  private final boolean rules;

  /**
   * @param rules whether stores to version words are watched
   */
  public AnnouncingSeed(boolean rules) {
    this.rules = rules;
  }

  @Override
  public String apply(long seed) {
    SystemSimulation simulation =
        SystemSimulation.of(seed, Configuration.random(new SplittableRandom(seed)).announcing());
    return (rules ? simulation : simulation.withoutWordRules()).run().failure();
  }
}
