package io.erda.simulation.mutants;

import io.erda.simulation.system.SeedSets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongFunction;
import java.util.stream.Collectors;

/** How many seeds each mutant needs, for {@code simulation/MUTANTS.md}. */
public final class MutantTable {
  private static final boolean RULES =
      Boolean.parseBoolean(System.getProperty("erda.rules", "true"));

  private MutantTable() {}

  /**
   * Prints a row for each mutant, as they come.
   *
   * @param args a regular expression for the names of mutants, or nothing for all
   */
  public static void main(String[] args) {
    int sets = Integer.getInteger("erda.sets", 5);
    int seedsMax = Integer.getInteger("erda.seeds", 10_000);
    System.out.println("| mutant | defect | seeds needed, median | by set | found as |");
    System.out.println("|---|---|---|---|---|");
    for (Mutant mutant : Mutants.ALL) {
      if (args.length == 0 || mutant.name().matches(args[0])) {
        System.out.println(row(mutant, mutant.survives() == null ? sets : 1, seedsMax).text());
        System.out.flush();
      }
    }
  }

  /**
   * What became of one mutant.
   *
   * @param needed seeds, by set
   */
  record Row(Mutant mutant, int[] needed, int seedsMax, String how) {
    boolean foundByAll() {
      return Arrays.stream(needed).allMatch(count -> count <= seedsMax);
    }

    String text() {
      int[] sorted = needed.clone();
      Arrays.sort(sorted);
      return "| %s | %s | %s | %s | %s |"
          .formatted(
              mutant.name(),
              mutant.defect(),
              MutantTable.text(sorted[sorted.length / 2], seedsMax),
              Arrays.stream(needed)
                  .mapToObj(count -> MutantTable.text(count, seedsMax))
                  .collect(Collectors.joining(", ")),
              how);
    }
  }

  static Row row(Mutant mutant, int sets, int seedsMax) {
    List<String> how = new ArrayList<>();
    LongFunction<String> simulation = RULES ? mutant.simulation() : mutant.withoutWordRules();
    int[] needed = SeedSets.needed(simulation, sets, seedsMax, how);
    return new Row(mutant, needed, seedsMax, how.isEmpty() ? mutant.survives() : kinds(how));
  }

  private static String text(int needed, int seedsMax) {
    return needed > seedsMax ? "more than " + seedsMax : Integer.toString(needed);
  }

  private static String kinds(List<String> how) {
    return how.stream().map(MutantTable::kind).distinct().collect(Collectors.joining("; "));
  }

  /** What found it, in a few words. */
  private static String kind(String failure) {
    if (failure.contains("no order explains")) {
      return "history";
    }
    if (failure.contains("version word of")
        || failure.contains("key word of")
        || failure.contains("served and not durable")) {
      return "rules for words";
    }
    if (failure.contains("recovery left")) {
      return "inspection after recovery";
    }
    return failure
        .lines()
        .findFirst()
        .orElse("")
        .replaceAll("io\\.erda\\.[a-z.]*", "")
        .replaceAll("(.{70}).*", "$1…");
  }
}
