package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the parsing of the list of limits. */
class ProcessLimitsTest {
  @TempDir Path directory;

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
    assertEquals(-1, ProcessLimits.fileBytesMax(directory.resolve("none")));
  }

  private long ofList(String text) throws IOException {
    return ProcessLimits.fileBytesMax(Files.writeString(directory.resolve("limits"), text));
  }
}
