package io.erda.simulation.mutants;

import static org.junit.jupiter.api.Assertions.assertNull;

import io.erda.simulation.mutants.ScenarioSeed.Scenario;
import io.erda.simulation.system.SeedSets;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/**
 * In runs of one kind nothing is found that is no defect, and the simulation finds the defects that
 * show there: those of stores whose puts announce first, of iterations beside which entries are
 * displaced, and of tables that become smaller. In one set of seeds in the build, and in five with
 * {@code -Derda.mutants=all}; {@code -Derda.mutant=REGEX} for those of such names.
 */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
final class ScenarioMutantsTest {
  private static final int SEEDS_MAX = SeedSets.ALL ? 10_000 : 1000;

  /** Null for all; those that survive are looked for only when they are named. */
  private static final String ONLY = System.getProperty("erda.mutant");

  private static final int SEEDS_SOUND = Integer.getInteger("erda.sound", 20);

  /** Where mutants of all runs are looked for that are slow elsewhere. */
  private static final Set<Scenario> KEPT = EnumSet.of(Scenario.ITERATED, Scenario.LEAVING);

  /** {@code HalvingMutantsTest} does so in runs in which tables shrink, and counts what happens. */
  @ParameterizedTest
  @EnumSource(value = Scenario.class, mode = Mode.EXCLUDE, names = "SHRINKING")
  void withoutADefectNothingIsFound(Scenario scenario) {
    LongFunction<String> sound = scenario.runs(List.of(), true);
    for (long seed = 1; seed <= SEEDS_SOUND; seed++) {
      assertNull(sound.apply(seed), "seed " + seed);
    }
  }

  @TestFactory
  Stream<DynamicTest> thoseThatShowThereAreFound() {
    return Arrays.stream(Scenario.values())
        .flatMap(scenario ->
            MutantLists.of(scenario).stream()
                .filter(mutant -> isWanted(scenario, mutant))
                .map(mutant ->
                    DynamicTest.dynamicTest(
                        MutantLists.runs(scenario) + ": " + mutant, () -> find(mutant, scenario))));
  }

  /** Those of tables that shrink are too many for a build: some are left to the long form. */
  private static boolean isWanted(Scenario scenario, Mutant mutant) {
    if (ONLY != null) {
      return mutant.name().matches(ONLY);
    }
    return mutant.survives() == null
        && (SeedSets.ALL || mutant.quick() || KEPT.contains(scenario))
        && SeedSets.takes(mutant.name());
  }

  private static void find(Mutant mutant, Scenario scenario) {
    SeedSets.assertFound(
        MutantLists.runs(scenario),
        mutant.name(),
        SEEDS_MAX,
        scenario.runs(mutant.patches().get(), SeedSets.RULES));
  }
}
