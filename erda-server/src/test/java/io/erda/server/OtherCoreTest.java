package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class OtherCoreTest {
  /** Returns a line of the kernel's status of the calling thread. */
  private static String status(String name) throws IOException {
    try (var lines = Files.lines(Path.of("/proc/thread-self/status"))) {
      return lines.filter(line -> line.startsWith(name)).findFirst().orElseThrow();
    }
  }

  @Test
  void aThreadMayUseTheSameCoresAfterwards() throws IOException {
    assumeTrue(Runtime.getRuntime().availableProcessors() > 1, "there is one core");
    String before = status("Cpus_allowed:");
    OtherCore other = new OtherCore();
    for (int i = 0; i < 10; i++) {
      assertTrue(other.take());
      assertEquals(before, status("Cpus_allowed:"));
    }
  }
}
