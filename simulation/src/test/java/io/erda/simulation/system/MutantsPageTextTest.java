package io.erda.simulation.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.simulation.system.MutantsPage.Row;
import io.erda.simulation.system.MutantsPage.Table;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests which rows the page of mutants keeps and which it replaces, on a page of two tables. */
final class MutantsPageTextTest {
  private static final Row FIRST = new Row("first", "it is wrong", null);
  private static final Row SECOND = new Row("second", "it is wrong, too", null);
  private static final List<Table> TABLES =
      List.of(
          new Table("Here", "Of here.", List.of(FIRST, SECOND)),
          new Table("There", "Of there.", List.of(FIRST)));
  private static final List<String> RUN = List.of("history", "1, 2", "abc, 2026-11-27");

  @Test
  void aRunIsRecordedInItsTableAloneAndKept() {
    String page = MutantsPage.text("Words.\n\n## Here\n", TABLES);
    String run = MutantsPage.with(page, "There", "first", RUN);
    assertEquals(
        page.replace("Of there.", "Of there.")
            .replaceFirst(
                "(?s)(## There.*)\\| first \\| it is wrong \\|  \\| not run yet \\|  \\|",
                "$1| first | it is wrong | history | 1, 2 | abc, 2026-11-27 |"),
        run);
    assertEquals(run, MutantsPage.text(run, TABLES));
  }

  @Test
  void whatIsNoMoreGoesAndWhatIsNewComes() {
    String page = MutantsPage.text("## Here\n", TABLES);
    String run = MutantsPage.with(page, "Here", "second", RUN);
    List<Table> later =
        List.of(new Table("Here", "Of here.", List.of(new Row("third", "new", "of this"), SECOND)));
    assertEquals(
        """
        ## Here

        Of here.

        | mutant | what is broken | found by | seeds needed, by set | commit and date of that run |
        |---|---|---|---|---|
        | third | new | survives: of this | not run yet |  |
        | second | it is wrong, too | history | 1, 2 | abc, 2026-11-27 |
        """,
        MutantsPage.text(run, later));
  }

  @Test
  void aRunOfAMutantThatThePageLacksIsNotLost() {
    String page = MutantsPage.text("## Here\n", TABLES);
    for (String where : List.of("Here", "There")) {
      String run = MutantsPage.with(page, where, "new", RUN);
      assertEquals(1, run.split("\\| new \\|  \\| history \\| 1, 2 \\|", -1).length - 1, run);
      assertEquals(page, MutantsPage.text(run, TABLES));
    }
  }
}
