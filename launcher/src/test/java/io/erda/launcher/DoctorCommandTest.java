package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.erda.client.ErdaClient;
import io.erda.server.ErdaServer;
import io.erda.server.ServerOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

  /**
   * A part of the JVM that can't be loaded for want of descriptors was called a defect of ours. How
   * many are too few for which part depends on the class path, so several limits are tried; with
   * the fewest the JVM itself does not start.
   */
  @Test
  void tooFewOpenFilesAreNamed() throws Exception {
    int named = 0;
    for (int limit = 32; limit < 100; limit += 4) {
      String line =
          "ulimit -n %d; erda server --child --capacity 2M --data '%s' < /dev/null"
              .formatted(limit, directory.resolve("data"));
      CommandShell.Ended ended = new CommandShell(directory, "").run(line);
      if (ended.exitCode() == 0) {
        break;
      }
      if (ended.err().startsWith("erda: ")) {
        CommandShell.assertOneLine(ended, 1, "too many open files: ");
        assertTrue(ended.err().contains("ulimit -n "), ended.err());
        named++;
      }
    }
    assertTrue(named > 0, "no limit was too low");
  }

  /** Read in small pieces, a number in /proc/sys is one digit. */
  @Test
  void whatTheKernelSaysIsReadWhole() throws Exception {
    CommandShell.Ended ended =
        doctor("--json --data '" + directory.resolve("data") + "'; cat /proc/sys/vm/max_map_count");
    String kernel = text(ended).lines().skip(1).findFirst().orElseThrow();
    String found = finding(ended, "mappings").get("found").asText();
    assertEquals(kernel, found.split(":", 2)[0]);
  }

  /** It said that all was well, and the server was refused the first file. */
  @Test
  void aStoreWithFilesOfSomebodyElse() throws Exception {
    requireRoot();
    Path data = directory.resolve("data");
    ErdaServer.start(data, ServerOptions.DEFAULTS.withCapacityBytes(2 << 20)).close();
    run("chown", "-R", "65534", data.toString());
    run("chown", "root", data.toString());
    JsonNode wrong = finding(doctorBoundByPermissions(data), "directory");
    assertEquals("wrong", wrong.get("state").asText(), wrong::toString);
    String file = "can't open " + data.resolve("regions");
    assertTrue(wrong.get("found").asText().contains(file), wrong::toString);
    doWhatMends(wrong, "chown -R root ");
    JsonNode mended = finding(doctorBoundByPermissions(data), "directory");
    assertEquals(data + " holds a store", mended.get("found").asText());
  }

  /** It advised to make the directory, again and again, when it was there. */
  @Test
  void aDirectoryBelowOneThatCantBeEntered() throws Exception {
    requireRoot();
    Path around = Files.createDirectory(directory.resolve("around"));
    Path data = around.resolve("data");
    run("chown", "65534", around.toString());
    run("chmod", "700", around.toString());
    JsonNode wrong = finding(doctorBoundByPermissions(data), "directory");
    String found = wrong.get("found").asText();
    assertTrue(found.startsWith(around + " can't be entered by user root"), found);
    assertTrue(wrong.get("mend").asText().contains("chmod a+x " + around), wrong::toString);
    run("chmod", "a+x", around.toString());
    doWhatMends(finding(doctorBoundByPermissions(data), "directory"), "install -d ");
    JsonNode mended = finding(doctorBoundByPermissions(data), "directory");
    assertEquals(data + " is empty", mended.get("found").asText());
  }

  /** Before, it advised a store in which no value had room. */
  @Test
  void aStoreOfTheAdvisedSizeCanBeUsedOnASmallDisk() throws Exception {
    requireRoot();
    Path disk = Files.createDirectory(directory.resolve("disk"));
    assumeTrue(
        exitCode("mount", "-t", "tmpfs", "-o", "size=10m", "tmpfs", disk.toString()) == 0,
        "nothing may be mounted here");
    try {
      Path data = disk.resolve("data");
      JsonNode wrong = finding(doctor("--json --data '" + data + "'"), "disk space");
      Matcher advised =
          Pattern.compile("--capacity ([0-9]+)M --buckets ([0-9]+)$")
              .matcher(wrong.get("mend").asText());
      assertTrue(advised.find(), wrong::toString);
      ServerOptions options =
          ServerOptions.DEFAULTS
              .withCapacityBytes(Long.parseLong(advised.group(1)) << 20)
              .withBuckets(Long.parseLong(advised.group(2)));
      try (ErdaServer server = ErdaServer.start(data, options);
          ErdaClient client = ErdaClient.connect(server.uri())) {
        byte[] value = new byte[50_000];
        for (int i = 0; i < 200; i++) {
          client.put(("key " + i % 10).getBytes(UTF_8), value);
        }
        for (int i = 0; i < 20_000; i++) {
          client.put(("small " + i).getBytes(UTF_8), new byte[1]);
        }
      }
    } finally {
      run("umount", disk.toString());
    }
  }

  private static void requireRoot() throws IOException {
    assumeTrue(
        Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0),
        "only the superuser has other users");
  }

  /** The superuser without what makes him one: permissions count. */
  private CommandShell.Ended doctorBoundByPermissions(Path data) throws Exception {
    return new CommandShell(directory, "")
        .run(
            "erda doctor --json --data '" + data + "'",
            List.of("setpriv", "--bounding-set=-all", "--inh-caps=-all"));
  }

  private static void doWhatMends(JsonNode finding, String begins) throws Exception {
    String mend = finding.get("mend").asText();
    assertTrue(mend.startsWith(begins), mend);
    run(mend.substring(0, mend.indexOf(" (as the superuser)")).split(" "));
  }

  private static void run(String... command) throws Exception {
    assertEquals(0, exitCode(command), String.join(" ", command));
  }

  private static int exitCode(String... command) throws Exception {
    return new ProcessBuilder(command).inheritIO().start().waitFor();
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
