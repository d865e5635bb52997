package io.erda.simulation.mutants;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.erda.simulation.mutants.ScenarioSeed.Scenario;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * In runs of one kind nothing is found that is no defect, and the simulation finds the defects that
 * show there: those of stores whose puts announce first, and of iterations beside which entries are
 * displaced.
 */
final class ScenarioMutantsTest {
  private static final int SEEDS_MAX = 1000;
  private static final Set<String> DISPLACED =
      Set.of("iteration ignores the structure counter", "source not drained");
  private static final int SEEDS_SOUND = Integer.getInteger("erda.sound", 40);
  private static final boolean RULES =
      Boolean.parseBoolean(System.getProperty("erda.rules", "true"));

  @ParameterizedTest
  @EnumSource(Scenario.class)
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
        .filter(each -> each.name().equals("settled with more under way"))
        .forEach(mutants::add);
    return find(mutants, Scenario.LEAVING);
  }

  private static Stream<DynamicTest> find(List<Mutant> mutants, Scenario scenario) {
    return mutants.stream()
        .map(mutant -> DynamicTest.dynamicTest(mutant.name(), () -> find(mutant, scenario)));
  }

  private static void find(Mutant mutant, Scenario scenario) {
    LongFunction<String> simulation = scenario.runs(mutant.patches().get(), RULES);
    String failure = null;
    long seed = 0;
    while (failure == null && seed < SEEDS_MAX) {
      failure = simulation.apply(++seed);
    }
    assertNotNull(failure, mutant.name() + " survives " + SEEDS_MAX + " seeds");
    System.out.println(
        mutant.name() + ": " + seed + " seeds, " + failure.lines().findFirst().orElse(""));
  }
}
