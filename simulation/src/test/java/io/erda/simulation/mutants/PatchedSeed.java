package io.erda.simulation.mutants;

import io.erda.simulation.system.RunResult;
import io.erda.simulation.system.SystemSimulation;
import java.util.function.LongFunction;

/**
 * What a seed comes to: null, or how it failed. Lives in a {@link PatchedLoader}, so it speaks to
 * the outside in classes of the JDK only.
 */
public final class PatchedSeed implements LongFunction<String> {
  @Override
  public String apply(long seed) {
    RunResult result = SystemSimulation.of(seed).run();
    return result.failure();
  }
}
