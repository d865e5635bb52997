package io.erda.simulation.system;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.LongFunction;

/** Defects that tests put between two parts of the production code, and not into its classes. */
public enum SeamMutant {
  /** A sweep that ends early proves nothing. */
  FREED_TOO_EARLY("cleaning", "a region is freed after half of the table was looked at"),
  WRITE_LOST("cleaning", "a word is decided on once and not looked up again"),
  WRONG_OFFSET("cleaning", "the copy is named as the version that does not count"),
  DELETED_KEY_BACK("cleaning", "the tombstone goes instead of its entry"),
  WORDS_NOT_DRAINED("cleaning", "words are not drained before the region goes"),
  DOUBLING_MOVED("doubling", "that an entry moved is not stored"),
  DOUBLING_OLD_ALONE("doubling", "readers look at the old table alone"),
  DOUBLING_NEW_FIRST("doubling", "readers look at the new table first"),
  DOUBLING_KEEPS_BOTH("doubling", "recovery keeps both entries"),
  DOUBLING_OLD_FREED("doubling", "the old table is freed when the new one is there"),
  HALVING_MOVED("halving", "that an entry moved is not stored"),
  HALVING_OLD_ALONE("halving", "readers look at the old table alone"),
  HALVING_NEW_FIRST("halving", "readers look at the new table first"),
  HALVING_KEEPS_BOTH("halving", "recovery keeps both entries"),
  STRETCH_NOT_STORED("halving", "the stretch is not stored"),
  TURN_LEAVES_MOVED("halving", "a turn leaves entries marked as moved"),
  TURN_LEAVES_STRETCH("halving", "a turn leaves the stretch"),
  NO_DRAIN("memory", "a drain does nothing"),
  NO_FLUSH("memory", "a flush does nothing"),
  VISIBLE_IS_DURABLE("memory", "what is visible is said to be durable");

  private static final String RUNS = "At the seams";

  private final String where;
  private final String defect;

  SeamMutant(String where, String defect) {
    this.where = where;
    this.defect = defect;
  }

  /** Their table of the page. */
  public static MutantsPage.Table table() {
    List<MutantsPage.Row> rows =
        Arrays.stream(values())
            .map(each -> new MutantsPage.Row(each.title(), each.defect, null))
            .toList();
    return new MutantsPage.Table(
        RUNS,
        "Tests put these between the cleaner and the table, between server or client and a table"
            + " that is resized, and between the store and its memory: `CleaningMutantsTest`,"
            + " `DoublingMutantsTest`, `HalvingMutantsTest`, `MutantsTest`.",
        rows);
  }

  /** Fails where a set of seeds does not find it. */
  void assertFound(int seedsMax, LongFunction<String> failureOf) {
    SeedSets.assertFound(RUNS, title(), seedsMax, failureOf);
  }

  private String title() {
    String words = name().replaceFirst("^(DOUBLING|HALVING)_", "").replace('_', ' ');
    return where + ": " + words.toLowerCase(Locale.ROOT);
  }
}
