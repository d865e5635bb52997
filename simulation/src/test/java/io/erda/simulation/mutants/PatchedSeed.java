package io.erda.simulation.mutants;

import io.erda.simulation.system.RunResult;
import io.erda.simulation.system.Shrinker;
import io.erda.simulation.system.SystemSimulation;
import java.util.function.LongFunction;

/**
 * Runs a seed, and returns null or a description of the failure. It is loaded by a {@link
 * PatchedLoader}, so its interface uses only classes of the JDK.
 */
public final class PatchedSeed implements LongFunction<String> {
  private final boolean rules;
  private final int shrinkRunsMax;

  /**
   * @param rules whether stores to version words are watched: without, only what clients see counts
   * @param shrinkRunsMax runs to spend on making a failure small; 0 to leave it
   */
  public PatchedSeed(boolean rules, int shrinkRunsMax) {
    this.rules = rules;
    this.shrinkRunsMax = shrinkRunsMax;
  }

  @Override
  public String apply(long seed) {
    RunResult result = run(SystemSimulation.of(seed));
    if (result.failure() == null || shrinkRunsMax == 0) {
      return result.failure();
    }
    RunResult small =
        new Shrinker(
                (ofSeed, configuration) -> run(SystemSimulation.of(ofSeed, configuration)),
                shrinkRunsMax)
            .shrink(result);
    return small.operations() + " operations: " + small.failure() + "\n" + small.history();
  }

  private RunResult run(SystemSimulation simulation) {
    return rules ? simulation.run() : simulation.withoutWordRules().run();
  }
}
