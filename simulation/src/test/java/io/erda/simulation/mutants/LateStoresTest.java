package io.erda.simulation.mutants;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Rule 10: a file is reused only when no process can store there any more. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
final class LateStoresTest {
  private static final int SEEDS_MAX = 1500;
  private static final int SEEDS_SOUND = 40;

  private static final ReusedRegions RUNS =
      new ReusedRegions(1500, 1 << 17, List.of("CONNECTION_LOSS", "CLIENT_CRASH"));

  @Test
  void nothingLandsInARegionThatIsNotItsWritersAnyMore() {
    RUNS.assertSound(SEEDS_SOUND);
  }

  @Test
  void aFileThatIsUsedAgainBeforeItsWritersLeftIsFound() {
    RUNS.assertFound("file used again at once", SEEDS_MAX);
  }

  @Test
  void aStrangerThatIsForgottenIsFound() {
    RUNS.assertFound("strangers forgotten", SEEDS_MAX);
  }
}
