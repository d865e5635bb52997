package io.erda.simulation.mutants;

import java.util.List;
import java.util.function.LongFunction;
import java.util.function.Supplier;

/**
 * A deliberate defect of the production code.
 *
 * @param name short
 * @param defect what is wrong, as a clause
 * @param patches made anew for each use, since they count what they meet
 * @param quick whether some dozens of seeds find it
 * @param survives null where the simulation has to find it; else why it can't be found today
 */
record Mutant(
    String name, String defect, Supplier<List<Patch>> patches, boolean quick, String survives) {
  static Mutant of(String name, String defect, Supplier<List<Patch>> patches) {
    return new Mutant(name, defect, patches, true, null);
  }

  /** It takes many seeds, from some seventy to thousands: not for every build. */
  Mutant slow() {
    return new Mutant(name, defect, patches, false, survives);
  }

  Mutant survivesBecause(String why) {
    return new Mutant(name, defect, patches, false, why);
  }

  /** Erda with this defect: what a seed comes to, null or a failure. */
  LongFunction<String> simulation() {
    return simulation(true, 0);
  }

  /** As before, without the checks of version words: only histories and inspections count. */
  LongFunction<String> withoutWordRules() {
    return simulation(false, 0);
  }

  /** The first failure from a seed on, seen by clients, made small. */
  String shrunk(long firstSeed, int runsMax) {
    LongFunction<String> simulation = simulation(false, runsMax);
    for (long seed = firstSeed; ; seed++) {
      String failure = simulation.apply(seed);
      if (failure != null) {
        return failure;
      }
    }
  }

  private LongFunction<String> simulation(boolean rules, int shrinkRunsMax) {
    return PatchedLoader.make(patches.get(), PatchedSeed.class, rules, shrinkRunsMax);
  }

  @Override
  public String toString() {
    return name;
  }
}
