package io.erda.eval.experiments.cleaning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PageFaultsTest {
  @Test
  void minorFaultsAreFoundBehindAnyCommand() throws IOException {
    String rest = " S 7 8 9 0 -1 4194304 123456 0 11 0 5 6\n";
    assertEquals(123456, PageFaults.minor("42 (java)" + rest));
    assertEquals(123456, PageFaults.minor("42 (a b) S 1 2 3 4 5 6 7 8 (\n)" + rest));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "42 (java",
        "42 (java) S 7 8 9 0 -1 4194304",
        "42 (java) S 7 8 9 0 -1 4194304 12",
        "42 (java) S 7 8 9 0 -1 4194304 many 0 11 0\n",
        "42 java S 7 8 9 0 -1 4194304 123456 0 11 0\n",
        "no such process"
      })
  void anythingElseIsRefused(String text) {
    IOException e = assertThrows(IOException.class, () -> PageFaults.minor(text));
    assertEquals("'" + text.strip() + "' is no stat", e.getMessage());
  }
}
