package io.erda.eval.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CpuTimeTest {
  @Test
  void theFirstNumberCounts() throws IOException {
    assertEquals(1234567890123L, CpuTime.onProcessorNs("1234567890123 45 6\n"));
    assertEquals(0, CpuTime.onProcessorNs("0 0 0\n"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "\n",
        "12",
        "12 34",
        "12 34 5",
        "12 34 \n",
        "-1 2 3\n",
        "ns 2 3\n",
        "1 2 3 4\n"
      })
  void anythingElseIsRefused(String text) {
    IOException e = assertThrows(IOException.class, () -> CpuTime.onProcessorNs(text));
    assertEquals("'" + text.strip() + "' is no schedstat", e.getMessage());
  }
}
