package io.erda.simulation.system;

import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

/**
 * Seeds that found something once. They mean the same run only as long as the simulation draws the
 * same numbers; a test of its own is better where there is a short one.
 */
final class RegressionSeedsTest {
  /**
   * A server that is killed while it begins to double the table may leave a superblock that is
   * visible and not durable; the next one moves entries, and a power failure takes the superblock
   * back.
   */
  @Test
  void whatADoublingBeganWithOutlivesAKillAndThenAPowerFailure() {
    requireSound(7_003_297);
    requireSound(8_015_135);
  }

  /** A word without newest version that names the victim of a cleaning ended the server. */
  @Test
  void aDamagedWordDoesNotEndACleaner() {
    requireSound(9_005_993);
  }

  private static void requireSound(long seed) {
    RunResult result = SystemSimulation.of(seed).run();
    assertNull(result.failure(), result::report);
  }
}
