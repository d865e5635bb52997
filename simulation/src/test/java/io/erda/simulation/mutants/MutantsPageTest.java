package io.erda.simulation.mutants;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.simulation.system.MutantsPage;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * {@code MUTANTS.md} has a row for each mutant and for nothing else. With {@code -Derda.write=true}
 * it is written so; rows keep what was recorded of their last run.
 */
final class MutantsPageTest {
  @Test
  void thePageHasEveryMutantAndNoOther() throws IOException {
    String is = Files.readString(MutantsPage.PAGE, UTF_8);
    String shouldBe = MutantsPage.text(is, MutantLists.tables());
    if (MutantsPage.WRITES) {
      Files.writeString(MutantsPage.PAGE, shouldBe, UTF_8);
      return;
    }
    assertTrue(
        shouldBe.equals(is),
        () ->
            "the page lacks\n"
                + onlyIn(shouldBe, is)
                + "and has\n"
                + onlyIn(is, shouldBe)
                + "To write simulation/MUTANTS.md anew, run this test with -Derda.write=true");
  }

  private static String onlyIn(String one, String other) {
    Set<String> there = other.lines().collect(Collectors.toSet());
    return one.lines()
        .filter(line -> !there.contains(line))
        .map(line -> line + "\n")
        .collect(Collectors.joining());
  }
}
