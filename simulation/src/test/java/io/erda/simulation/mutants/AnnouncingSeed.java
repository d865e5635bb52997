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
  private final boolean late;

  /**
   * @param rules whether stores to version words are watched
   * @param late whether it is a run with writers whose stores land late
   */
  public AnnouncingSeed(boolean rules, boolean late) {
    this.rules = rules;
    this.late = late;
  }

  @Override
  public String apply(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Configuration configuration =
        late ? Configuration.lateWriters(random) : Configuration.random(random).announcing();
    SystemSimulation simulation = SystemSimulation.of(seed, configuration);
    return (rules ? simulation : simulation.withoutWordRules()).run().failure();
  }
}
