package io.erda.simulation.mutants;

import io.erda.simulation.system.Configuration;
import io.erda.simulation.system.Fault;
import io.erda.simulation.system.Scenarios;
import io.erda.simulation.system.SystemSimulation;
import java.util.EnumSet;
import java.util.SplittableRandom;
import java.util.function.LongFunction;

/**
 * Runs a seed in which regions are cleaned and reused all the time, and stores that a client has
 * begun land in any case. Like {@link PatchedSeed} it is loaded by a {@link PatchedLoader}.
 */
public final class ReusedRegionsSeed implements LongFunction<String> {
  private final int operations;
  private final long faultGapNs;
  private final EnumSet<Fault> faults;

  /**
   * @param operations until no more are begun
   * @param faultGapNs between two faults, about
   * @param faults names of those that may happen
   */
  public ReusedRegionsSeed(int operations, long faultGapNs, String... faults) {
    this.operations = operations;
    this.faultGapNs = faultGapNs;
    this.faults = EnumSet.noneOf(Fault.class);
    for (String fault : faults) {
      this.faults.add(Fault.valueOf(fault));
    }
  }

  @Override
  public String apply(long seed) {
    Configuration configuration =
        Scenarios.reusedRegions(new SplittableRandom(seed), operations, faultGapNs, faults);
    return SystemSimulation.of(seed, configuration).run().failure();
  }
}
