package io.erda.simulation.mutants;

import io.erda.simulation.mutants.ScenarioSeed.Scenario;
import io.erda.simulation.system.MutantsPage;
import io.erda.simulation.system.SeamMutant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The mutants and the kinds of runs in which they are searched, for the tests and for the page. */
final class MutantLists {
  /** The heading of those that are looked for in runs of every kind. */
  static final String ALL_RUNS = "In all runs";

  /** Those of all runs that are hardly found but in runs of a kind of their own. */
  private static final Set<String> DISPLACED =
      Set.of("iteration ignores the structure counter", "source not drained");

  private static final Set<String> LEFT = Set.of("finished with more under way");

  private MutantLists() {}

  /** Those that are looked for in runs of this kind. */
  static List<Mutant> of(Scenario scenario) {
    return switch (scenario) {
      case ANNOUNCING -> AnnounceMutants.ALL;
      case LATE_WRITERS -> AnnounceMutants.LATE;
      case BETWEEN_LOOKS -> AnnounceMutants.BETWEEN_LOOKS;
      case ITERATED -> named(DISPLACED);
      case LEAVING -> {
        List<Mutant> leaving = new ArrayList<>(named(LEFT));
        leaving.addAll(Mutants.LEAVING);
        yield leaving;
      }
      case SHRINKING -> ShrinkMutants.ALL;
      case COMMITTING -> CommitMutants.ALL;
      case COMMITTING_OUTSIDE -> CommitMutants.OUTSIDE;
    };
  }

  /** The heading of their table. */
  static String runs(Scenario scenario) {
    return switch (scenario) {
      case ANNOUNCING -> "Where puts announce first";
      case LATE_WRITERS -> "Where stores land late";
      case BETWEEN_LOOKS -> "Between two looks of the server";
      case ITERATED -> "Where entries are displaced beside iterations";
      case LEAVING -> "Where clients leave in the middle";
      case SHRINKING -> "Where tables become smaller";
      case COMMITTING -> "Where clients of embedded stores commit";
      case COMMITTING_OUTSIDE -> "Where clients of other processes commit";
    };
  }

  /** Whether a mutant has such a name. */
  static boolean has(String regex) {
    return tables().stream()
        .flatMap(table -> table.rows().stream())
        .anyMatch(row -> row.name().matches(regex));
  }

  /** All tables of the page. */
  static List<MutantsPage.Table> tables() {
    List<MutantsPage.Table> tables = new ArrayList<>();
    tables.add(
        table(
            ALL_RUNS,
            "The simulation draws what it always draws, and nothing is said to it:"
                + " `EveryMutantTest`.",
            Mutants.ALL));
    tables.add(SeamMutant.table());
    for (Scenario each : Scenario.values()) {
      tables.add(table(runs(each), introduction(each), of(each)));
    }
    return tables;
  }

  private static List<Mutant> named(Set<String> names) {
    return Mutants.ALL.stream().filter(each -> names.contains(each.name())).toList();
  }

  private static MutantsPage.Table table(String runs, String introduction, List<Mutant> mutants) {
    return new MutantsPage.Table(
        runs,
        introduction,
        mutants.stream()
            .map(each -> new MutantsPage.Row(each.name(), each.defect(), each.survives()))
            .toList());
  }

  private static String introduction(Scenario scenario) {
    return switch (scenario) {
      case ANNOUNCING -> "A run is like any other, and its puts announce first.";
      case LATE_WRITERS ->
          "Puts announce first on one key or two, connections are lost in the middle of a WRITE,"
              + " and WRITEs go on when the server has judged what was announced"
              + " (`Scenarios.lateWriters`).";
      case BETWEEN_LOOKS ->
          "Puts announce first. Where the server looks twice at what was announced in one step,"
              + " others go on between its two looks, by calls that are woven into its code"
              + " (`Looks`). A step is one event otherwise, and no run could find that an object"
              + " became whole in the middle of it.";
      case ITERATED ->
          "A full table has keys that mostly stay, entries are displaced beside iterations, READs"
              + " take long, and servers die in the middle"
              + " (`Scenarios.displacedBesideIterations`).";
      case LEAVING ->
          "Clients with several puts under way lose their connections while batches wait for the"
              + " device, which fails in one run of four (`Scenarios.leavingInTheMiddle`).";
      case SHRINKING ->
          "Keys come and go, tables are doubled and halved, and crashes aim at the moves and at the"
              + " superblock (`Scenarios.tablesThatShrink`). Doubling has the same code, so a"
              + " defect of these is one only while a table becomes smaller.";
      case COMMITTING ->
          "Stores are embedded, and their clients commit updates of a few keys beside each other,"
              + " while regions are cleaned and reused and leases end (`Scenarios.committing`). The"
              + " turn that they share is the simulation's (`InsideTurn`); a call that is woven in"
              + " lets others go on before a swap.";
      case COMMITTING_OUTSIDE ->
          "Clients of other processes commit updates of a few keys between two steps of the server."
              + " They are stopped at any point of that, some for longer than a step waits, and"
              + " some until another server has the store (`Scenarios.committingOutside`). No store"
              + " to a version word by such a client is watched: histories and inspections tell.";
    };
  }
}
