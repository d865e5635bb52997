package io.erda.cleaner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CleanerOptionsTest {
  @Test
  void boundsAreNotNegative() {
    assertThrows(IllegalArgumentException.class, () -> new CleanerOptions(-1, 0, 0, 0, 0));
    assertThrows(IllegalArgumentException.class, () -> new CleanerOptions(1, 0, -1, 0, 0));
    assertThrows(IllegalArgumentException.class, () -> new CleanerOptions(1, 0, 0, -1, 0));
    assertThrows(IllegalArgumentException.class, () -> new CleanerOptions(1, 0, 0, 0, -1));
  }

  @Test
  void theLiveShareLeavesSomethingToGain() {
    assertEquals(90, CleanerOptions.DEFAULT.withLivePercent(90).livePercent());
    assertThrows(IllegalArgumentException.class, () -> CleanerOptions.DEFAULT.withLivePercent(91));
    assertThrows(IllegalArgumentException.class, () -> CleanerOptions.DEFAULT.withLivePercent(-1));
  }

  @Test
  void neverIsNever() {
    assertFalse(CleanerOptions.NEVER.enabled());
    assertTrue(CleanerOptions.DEFAULT.enabled());
  }
}
