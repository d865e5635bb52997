package io.erda.simulation.mutants;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.simulation.system.SeedSets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The simulation finds deliberate defects of the production code, with nothing said to it. In the
 * build a third of those that take few seeds; {@code -Derda.mutants=all} for every one, in five
 * sets of seeds, which takes an hour or more; {@code -Derda.mutant=REGEX} for those of such names,
 * with those that survive.
 */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
final class EveryMutantTest {
  private static final int QUICK_SEEDS_MAX = 400;

  /** Null for all. */
  private static final String ONLY = System.getProperty("erda.mutant");

  @TestFactory
  Stream<DynamicTest> isFound() {
    List<Mutant> chosen =
        Mutants.ALL.stream()
            .filter(mutant ->
                ONLY == null
                    ? mutant.survives() == null
                        && (SeedSets.ALL || mutant.quick())
                        && SeedSets.takes(mutant.name())
                    : mutant.name().matches(ONLY))
            .toList();
    assertTrue(
        !chosen.isEmpty() || MutantLists.has(ONLY), () -> "there is no mutant “" + ONLY + "”");
    return chosen.stream()
        .map(mutant -> DynamicTest.dynamicTest(mutant.name(), () -> find(mutant)));
  }

  private static void find(Mutant mutant) {
    SeedSets.assertFound(
        MutantLists.ALL_RUNS,
        mutant.name(),
        SeedSets.ALL ? 10_000 : QUICK_SEEDS_MAX,
        SeedSets.RULES ? mutant.simulation() : mutant.withoutWordRules());
  }

  /** The table's yardstick: where nothing was changed nothing is found. */
  @Test
  void withoutADefectNothingIsFound() {
    requireNothingFound(Mutant.of("none", "nothing is wrong", List::of));
  }

  /** Changes that only make a mutant possible are no defects themselves. */
  @Test
  void aMapOfManyPagesIsNoDefect() {
    requireNothingFound(
        Mutant.of("small pages", "nothing is wrong", () -> List.of(Mutants.smallMapPages())));
  }

  private static void requireNothingFound(Mutant none) {
    List<String> how = new ArrayList<>();
    SeedSets.needed(none.simulation(), 1, 50, how);
    assertTrue(how.isEmpty(), how::toString);
  }
}
