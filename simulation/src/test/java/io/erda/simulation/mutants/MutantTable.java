package io.erda.simulation.mutants;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;

/** How many seeds each mutant needs, for {@code simulation/MUTANTS.md}. */
public final class MutantTable {
  /** Of the first seed of each set: far apart, so that the sets are disjoint. */
  static final long SET_GAP = 1_000_000;

  private MutantTable() {}

  /**
   * Seeds until the first failure, in sets of their own.
   *
   * @return for each set how many, or seedsMax + 1 where none failed
   */
  static int[] seedsNeeded(
      LongFunction<String> simulation, int sets, int seedsMax, List<String> how) {
    int[] needed = new int[sets];
    for (int set = 0; set < sets; set++) {
      long first = 1 + set * SET_GAP;
      needed[set] = seedsMax + 1;
      for (int i = 0; i < seedsMax; i++) {
        String failure = simulation.apply(first + i);
        if (failure != null) {
          needed[set] = i + 1;
          how.add(failure);
          break;
        }
      }
    }
    return needed;
  }

  public static void main(String[] args) {
    int sets = Integer.getInteger("erda.sets", 5);
    int seedsMax = Integer.getInteger("erda.seeds", 10_000);
    String only = args.length == 0 ? "" : args[0];
    var threads = ManagementFactory.getThreadMXBean();
    for (Mutant mutant : Mutants.ALL) {
      if (!mutant.name().contains(only)) {
        continue;
      }
      long began = threads.getCurrentThreadCpuTime();
      List<String> how = new ArrayList<>();
      int[] needed;
      try {
        needed =
            seedsNeeded(mutant.simulation(), mutant.survives() == null ? sets : 1, seedsMax, how);
      } catch (Throwable e) {
        System.out.println(mutant.name() + ": " + e);
        if (!only.isEmpty()) e.printStackTrace();
        continue;
      }
      System.out.printf(
          "%-36s %s  %.1f s  %s%n",
          mutant.name(),
          java.util.Arrays.toString(needed),
          (threads.getCurrentThreadCpuTime() - began) / 1e9,
          how.stream()
              .map(text -> text.lines().findFirst().orElse(""))
              .map(t -> t.substring(0, Math.min(90, t.length())))
              .toList());
    }
  }
}
