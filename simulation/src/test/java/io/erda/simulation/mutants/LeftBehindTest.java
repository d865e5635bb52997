package io.erda.simulation.mutants;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** An opening takes the store over from clients of the server before: they may be storing. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
final class LeftBehindTest {
  private static final int SEEDS_MAX = 600;
  private static final int SEEDS_SOUND = 20;

  /** Servers are killed over their clients, and another process opens the store now and then. */
  private static final ReusedRegions RUNS =
      new ReusedRegions(
          3000, 1 << 20, List.of("SERVER_CRASH", "EMBEDDED_OPENING", "STORE_OF_THE_LEFT"));

  @Test
  void clientsOfAServerThatDiedHarmNobodyWhoOpensTheStore() {
    RUNS.assertSound(SEEDS_SOUND);
  }

  @Test
  void anEmbeddedOpeningThatFencesNobodyIsFound() {
    RUNS.assertFound("embedded opening fences nobody", SEEDS_MAX);
  }
}
