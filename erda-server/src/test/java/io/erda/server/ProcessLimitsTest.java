package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The limit is the same, whoever tells it. */
class ProcessLimitsTest {
  @TempDir Path directory;

  @Test
  void theKernelsListSaysWhatTheLibrarySays() {
    long told = ProcessLimits.fileBytesMaxOfList(Path.of("/proc/self/limits"));
    assertEquals(ProcessLimits.fileBytesMaxOfLibrary(), told);
  }

  @Test
  void softLimitsNoneAndNoList() throws IOException {
    String list =
        """
        Limit                     Soft Limit           Hard Limit           Units
        Max cpu time              unlimited            unlimited            seconds
        Max file size             %-20s unlimited            bytes
        Max data size             7                    unlimited            bytes
        """;
    assertEquals(1048576, ofList(list.formatted("1048576")));
    assertEquals(Long.MAX_VALUE, ofList(list.formatted("unlimited")));
    assertEquals(-1, ofList("Limit  Soft Limit\n"));
    assertEquals(-1, ProcessLimits.fileBytesMaxOfList(directory.resolve("none")));
  }

  private long ofList(String text) throws IOException {
    return ProcessLimits.fileBytesMaxOfList(Files.writeString(directory.resolve("limits"), text));
  }
}
