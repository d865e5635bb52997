package io.erda.simulation.mutants;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import java.util.function.LongFunction;

/**
 * Runs of {@link ReusedRegionsSeed}, with a mutant or without.
 *
 * @param operations until no more are begun
 * @param faultGapNs between two faults, about
 * @param faults names of those that may happen
 */
record ReusedRegions(int operations, long faultGapNs, List<String> faults) {
  private LongFunction<String> seeds(List<Patch> patches) {
    return PatchedLoader.make(
        patches, ReusedRegionsSeed.class, operations, faultGapNs, faults.toArray(String[]::new));
  }

  void assertSound(int seeds) {
    LongFunction<String> sound = seeds(List.of());
    for (long seed = 1; seed <= seeds; seed++) {
      assertNull(sound.apply(seed), "seed " + seed);
    }
  }

  void assertFound(String name, int seedsMax) {
    Mutant mutant =
        Mutants.ALL.stream().filter(each -> each.name().equals(name)).findAny().orElseThrow();
    LongFunction<String> simulation = seeds(mutant.patches().get());
    String failure = null;
    for (long seed = 1; seed <= seedsMax && failure == null; seed++) {
      failure = simulation.apply(seed);
      if (failure != null) {
        System.out.println(
            name + ": found by seed " + seed + ": " + failure.lines().findFirst().orElse(""));
      }
    }
    assertNotNull(failure, name + ": not found by " + seedsMax + " seeds");
  }
}
