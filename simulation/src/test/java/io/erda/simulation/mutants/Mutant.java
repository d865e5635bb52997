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
 * @param survives null where the simulation has to find it; else why it can't be found today
 */
record Mutant(String name, String defect, Supplier<List<Patch>> patches, String survives) {
  static Mutant of(String name, String defect, Supplier<List<Patch>> patches) {
    return new Mutant(name, defect, patches, null);
  }

  Mutant survivesBecause(String why) {
    return new Mutant(name, defect, patches, why);
  }

  /** Erda with this defect: what a seed comes to, null or a failure. */
  @SuppressWarnings("unchecked")
  LongFunction<String> simulation() {
    try {
      return (LongFunction<String>)
          new PatchedLoader(patches.get())
              .loadClass(PatchedSeed.class.getName())
              .getDeclaredConstructor()
              .newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
