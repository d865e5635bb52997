package io.erda.simulation.mutants;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A failing run becomes a history that people can read. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
final class ShrinkerTest {
  private static final int RUNS_MAX = 3000;
  private static final int OPERATIONS_MAX = 150;

  @Test
  void anAcknowledgedPutThatWasLostTakesAFewOperations() {
    requireSmall("broken connection acknowledged");
  }

  @Test
  void aWordThatWasNotDrainedTakesAFewOperations() {
    requireSmall("word not drained");
  }

  private static void requireSmall(String name) {
    Mutant mutant =
        Mutants.ALL.stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
    String small = mutant.shrunk(1, RUNS_MAX);
    System.out.println(small);
    int operations = Integer.parseInt(small.substring(0, small.indexOf(' ')));
    assertTrue(operations <= OPERATIONS_MAX, small);
    assertTrue(small.contains("memory of key"), small);
  }
}
