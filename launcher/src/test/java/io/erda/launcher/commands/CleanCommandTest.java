package io.erda.launcher.commands;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** Whether {@code erda clean} did what it was asked for; {@code FullDiskTest} has the figures. */
class CleanCommandTest {
  private static final Map<String, Long> BEFORE = Map.of("cleaner.cleanings", 7L);

  @Test
  void nothingCleanedForWantOfAFileIsToldWithTheReason() {
    String obstacle =
        CleanCommand.obstacle(
            BEFORE,
            Map.of("cleaner.cleanings", 7L, "cleaner.blocked", 1L, "disk.bytes.free", 50_000_000L));
    assertTrue(obstacle.contains("50,000,000 bytes are free"), obstacle);
    assertTrue(obstacle.contains("no room"), obstacle);
  }

  @Test
  void nothingToGainIsNoFailure() {
    assertNull(
        CleanCommand.obstacle(BEFORE, Map.of("cleaner.cleanings", 7L, "cleaner.blocked", 0L)));
  }

  @Test
  void whatWasCleanedIsNoFailure() {
    assertNull(
        CleanCommand.obstacle(BEFORE, Map.of("cleaner.cleanings", 8L, "cleaner.blocked", 1L)));
  }
}
