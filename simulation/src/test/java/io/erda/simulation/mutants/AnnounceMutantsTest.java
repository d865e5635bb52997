package io.erda.simulation.mutants;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Stores whose puts announce first are sound, and the simulation finds their defects. */
final class AnnounceMutantsTest {
  private static final int SEEDS_MAX = 400;
  private static final int SEEDS_SOUND = 40;
  private static final boolean RULES =
      Boolean.parseBoolean(System.getProperty("erda.rules", "true"));

  @Test
  void withoutADefectNothingIsFound() {
    for (boolean late : new boolean[] {false, true}) {
      LongFunction<String> sound = PatchedLoader.make(List.of(), AnnouncingSeed.class, true, late);
      for (long seed = 1; seed <= SEEDS_SOUND; seed++) {
        assertNull(sound.apply(seed), "seed " + seed + ", late " + late);
      }
    }
  }

  @TestFactory
  Stream<DynamicTest> isFound() {
    return AnnounceMutants.ALL.stream()
        .map(mutant -> DynamicTest.dynamicTest(mutant.name(), () -> find(mutant, false)));
  }

  @TestFactory
  Stream<DynamicTest> isFoundWhereStoresLandLate() {
    return AnnounceMutants.LATE.stream()
        .map(mutant -> DynamicTest.dynamicTest(mutant.name(), () -> find(mutant, true)));
  }

  private static void find(Mutant mutant, boolean late) {
    LongFunction<String> simulation =
        PatchedLoader.make(mutant.patches().get(), AnnouncingSeed.class, RULES, late);
    String failure = null;
    long seed = 0;
    while (failure == null && seed < SEEDS_MAX) {
      failure = simulation.apply(++seed);
    }
    assertNotNull(failure, mutant.name() + " survives " + SEEDS_MAX + " seeds");
    System.out.println(
        mutant.name() + ": " + seed + " seeds, " + failure.lines().findFirst().get());
  }
}
