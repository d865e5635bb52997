package io.erda.simulation.mutants;

import static org.junit.jupiter.api.Assertions.assertNull;

import io.erda.simulation.mutants.ScenarioSeed.Scenario;
import io.erda.simulation.system.SeedSets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/**
 * In runs of one kind nothing is found that is no defect, and the simulation finds the defects that
 * show there: those of stores whose puts announce first, of iterations beside which entries are
 * displaced, and of tables that become smaller. In one set of seeds in the build, and in five with
 * {@code -Derda.mutants=all}; {@code -Derda.mutant=NAME} for one alone.
 */
@Tag("long")
final class ScenarioMutantsTest {
  private static final int SEEDS_MAX = SeedSets.ALL ? 10_000 : 1000;

  /** Null for all; one that survives is looked for only when it is named. */
  private static final String ONLY = System.getProperty("erda.mutant");

  private static final Set<String> DISPLACED =
      Set.of("iteration ignores the structure counter", "source not drained");
  private static final int SEEDS_SOUND = Integer.getInteger("erda.sound", 40);
  private static final boolean RULES =
      Boolean.parseBoolean(System.getProperty("erda.rules", "true"));

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
  Stream<DynamicTest> thoseOfPutsThatAnnounceAreFound() {
    return find(AnnounceMutants.ALL, Scenario.ANNOUNCING);
  }

  @TestFactory
  Stream<DynamicTest> thoseOfStoresThatLandLateAreFound() {
    return find(AnnounceMutants.LATE, Scenario.LATE_WRITERS);
  }

  @TestFactory
  Stream<DynamicTest> thoseBetweenTwoLooksAreFound() {
    return find(AnnounceMutants.BETWEEN_LOOKS, Scenario.BETWEEN_LOOKS);
  }

  @TestFactory
  Stream<DynamicTest> thoseOfIterationsAreFound() {
    return find(
        Mutants.ALL.stream().filter(each -> DISPLACED.contains(each.name())).toList(),
        Scenario.ITERATED);
  }

  @TestFactory
  Stream<DynamicTest> thoseOfClientsThatLeaveAreFound() {
    List<Mutant> mutants = new ArrayList<>(Mutants.LEAVING);
    Mutants.ALL.stream()
        .filter(each -> each.name().equals("finished with more under way"))
        .forEach(mutants::add);
    return find(mutants, Scenario.LEAVING);
  }

  @TestFactory
  Stream<DynamicTest> thoseOfTablesThatShrinkAreFound() {
    return find(
        ShrinkMutants.ALL.stream()
            .filter(each -> SeedSets.ALL || ONLY != null || each.quick())
            .toList(),
        Scenario.SHRINKING);
  }

  private static Stream<DynamicTest> find(List<Mutant> mutants, Scenario scenario) {
    return mutants.stream()
        .filter(mutant -> ONLY == null ? mutant.survives() == null : mutant.name().equals(ONLY))
        .map(mutant -> DynamicTest.dynamicTest(mutant.name(), () -> find(mutant, scenario)));
  }

  private static void find(Mutant mutant, Scenario scenario) {
    SeedSets.assertFound(mutant.name(), SEEDS_MAX, scenario.runs(mutant.patches().get(), RULES));
  }
}
