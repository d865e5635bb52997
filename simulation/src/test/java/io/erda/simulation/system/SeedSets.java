package io.erda.simulation.system;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongFunction;

/**
 * Looks for a defect in sets of seeds that have none in common: one set in the build, for a third
 * of the defects; five with {@code -Derda.mutants=all}.
 */
public final class SeedSets {
  /** Whether the long form was asked for. */
  public static final boolean ALL = "all".equals(System.getProperty("erda.mutants"));

  public static final int SETS = ALL ? 5 : 1;

  /** Whether stores to version words are watched; without, histories and inspections count. */
  public static final boolean RULES =
      Boolean.parseBoolean(System.getProperty("erda.rules", "true"));

  /**
   * The build looks for a third of the mutants, for another third on the next day. With {@code
   * -Derda.third=0}, 1 or 2 for that one.
   */
  private static final int THIRD =
      Math.floorMod(Long.getLong("erda.third", LocalDate.now(ZoneOffset.UTC).toEpochDay()), 3);

  /** The first seeds of two sets are so far apart. */
  private static final long GAP = 1_000_000;

  private SeedSets() {}

  /** Whether this run looks for a mutant of that name. */
  public static boolean takes(String mutant) {
    return ALL || Math.floorMod(mutant.hashCode(), 3) == THIRD;
  }

  /**
   * Seeds until the first failure, in sets of their own.
   *
   * @param failureOf what a seed's run found; null when all was well
   * @param how gets what was found
   * @return for each set how many, or seedsMax + 1 where none failed
   */
  public static int[] needed(
      LongFunction<String> failureOf, int sets, int seedsMax, List<String> how) {
    int[] needed = new int[sets];
    for (int set = 0; set < sets; set++) {
      long first = 1 + set * GAP;
      needed[set] = seedsMax + 1;
      for (int i = 0; i < seedsMax; i++) {
        String failure = failureOf.apply(first + i);
        if (failure != null) {
          needed[set] = i + 1;
          how.add(failure);
          break;
        }
      }
    }
    return needed;
  }

  /**
   * Prints how many seeds each set took, and fails where one did not find it. With {@code
   * -Derda.mutants=all -Derda.write=true} the page of mutants records it.
   *
   * @param runs the heading of the mutant's table in that page
   * @param mutant its name
   */
  public static void assertFound(
      String runs, String mutant, int seedsMax, LongFunction<String> failureOf) {
    List<String> how = new ArrayList<>();
    int[] needed = needed(failureOf, SETS, seedsMax, how);
    System.out.println(
        runs
            + ": "
            + mutant
            + ": seeds needed by set "
            + Arrays.toString(needed)
            + (how.isEmpty() ? "" : ": " + how.getFirst().lines().findFirst().orElse("")));
    if (ALL && RULES && MutantsPage.WRITES) {
      MutantsPage.record(runs, mutant, how, needed, seedsMax);
    }
    assertTrue(how.size() == SETS, () -> mutant + ": not found by " + seedsMax + " seeds of a set");
  }
}
