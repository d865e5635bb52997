package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.erda.server.ErdaServer;
import io.erda.server.ServerOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command itself, on the machine that this is. */
class DoctorCommandTest {
  @TempDir Path directory;

  @Test
  void aDirectoryInWhichAServerStarts() throws Exception {
    Path data = directory.resolve("data");
    CommandShell.Ended before = doctor("--data '" + data + "'");
    assertEquals(0, before.exitCode(), text(before));
    assertTrue(
        text(before).lines().allMatch(line -> line.matches("(ok   |note )  .*")), text(before));
    assertTrue(text(before).contains(data + " is not there and can be made"), text(before));
    assertTrue(Files.notExists(data));
    ServerOptions small = ServerOptions.DEFAULTS.withCapacityBytes(2 << 20).withBuckets(256);
    try (ErdaServer _ = ErdaServer.start(data, small)) {
      assertTrue(text(doctor("--data '" + data + "'")).contains(data + " holds a store"));
    }
  }

  @Test
  void aDirectoryInWhichNoneStarts() throws Exception {
    Path data = Files.createDirectory(directory.resolve("data"));
    Files.createFile(data.resolve("letter"));
    CommandShell.Ended named = doctor("--data '" + data + "'");
    assertEquals(1, named.exitCode(), text(named));
    assertTrue(text(named).contains("it holds letter. To mend it: --data"), text(named));
    CommandShell.Ended current = doctor("", "cd '" + data + "'; ");
    assertEquals(0, current.exitCode(), text(current));
    assertTrue(text(current).contains("it holds letter"), text(current));
  }

  @Test
  void limitsOfTheShellThatStartsIt() throws Exception {
    CommandShell.Ended few =
        doctor("--json --data '" + directory.resolve("data") + "'", "ulimit -n 300; ");
    JsonNode finding = finding(few, "open files");
    assertEquals("note", finding.get("state").asText());
    assertTrue(finding.get("found").asText().startsWith("300: "), finding::toString);
    assertTrue(finding.get("mend").asText().contains("ulimit -n"), finding::toString);
  }

  /** A number in /proc/sys is one digit to who reads it in small pieces. */
  @Test
  void whatTheKernelSaysIsReadWhole() throws Exception {
    CommandShell.Ended ended =
        doctor("--json --data '" + directory.resolve("data") + "'; cat /proc/sys/vm/max_map_count");
    String kernel = text(ended).lines().skip(1).findFirst().orElseThrow();
    String found = finding(ended, "mappings").get("found").asText();
    assertEquals(kernel, found.split(":", 2)[0]);
  }

  private JsonNode finding(CommandShell.Ended ended, String name) throws IOException {
    JsonNode all = new ObjectMapper().readTree(text(ended).lines().findFirst().orElseThrow());
    for (JsonNode each : all.get("findings")) {
      if (each.get("name").asText().equals(name)) {
        return each;
      }
    }
    throw new AssertionError(name + " is not in " + all);
  }

  private CommandShell.Ended doctor(String options) throws Exception {
    return doctor(options, "");
  }

  private CommandShell.Ended doctor(String options, String before) throws Exception {
    return new CommandShell(directory, "").run(before + "erda doctor " + options);
  }

  private static String text(CommandShell.Ended ended) {
    return new String(ended.out(), UTF_8);
  }
}
