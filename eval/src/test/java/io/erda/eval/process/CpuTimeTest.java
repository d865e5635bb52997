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

  @Test
  void aThreadIsFoundByItsName() throws InterruptedException {
    long pid = ProcessHandle.current().pid();
    CpuTime before = CpuTime.of(pid);
    Thread busy =
        new Thread(
            () -> {
              while (!Thread.currentThread().isInterrupted()) {
                Thread.onSpinWait();
              }
            },
            "cputime-busy");
    busy.start();
    try {
      long spentNs = 0;
      while (spentNs == 0) {
        Thread.sleep(5);
        spentNs = CpuTime.of(pid).since(before, "cputime-busy");
      }
      CpuTime now = CpuTime.of(pid);
      assertThrows(ProcessException.class, () -> now.since(before, "cputime-none"));
    } finally {
      busy.interrupt();
      busy.join();
    }
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
