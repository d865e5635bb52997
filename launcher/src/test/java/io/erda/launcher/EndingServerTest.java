package io.erda.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.erda.client.ErdaClient;
import io.erda.console.LaunchSettings;
import io.erda.protocol.ErdaException;
import io.erda.rdma.Device;
import io.erda.server.StoreVerifier;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the end of servers that lose a thread, are told to end while they start, or can't start.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EndingServerTest {
  private static final long SEED = Long.getLong("erda.seed", System.nanoTime());
  private static final int STARTS = 6;
  private static final List<String> SMALL =
      List.of("--region-bytes", "1M", "--segment-bytes", "256K", "--capacity", "32M");

  @TempDir Path directory;
  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void end() {
    processes.forEach(Process::destroyForcibly);
  }

  private Path data() {
    return directory.resolve("data");
  }

  private Path said(String stream) {
    return directory.resolve(stream);
  }

  private String text(String stream) {
    try {
      return Files.exists(said(stream)) ? Files.readString(said(stream)) : "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> java(List<String> flags, String classPath, List<String> arguments) {
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(flags);
    words.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classPath));
    words.add("io.erda.launcher.Main");
    words.addAll(arguments);
    return words;
  }

  private Process start(List<String> command) throws IOException {
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(said("out").toFile())
            .redirectError(said("err").toFile())
            .start();
    processes.add(process);
    return process;
  }

  private List<String> server(String... more) {
    List<String> arguments = new ArrayList<>(List.of("server", "--data", data().toString()));
    arguments.addAll(SMALL);
    arguments.addAll(List.of(more));
    return arguments;
  }

  private static String classPath() {
    return System.getProperty("java.class.path");
  }

  private static List<String> flags() {
    return LaunchSettings.load().jvmFlags();
  }

  private void awaitThat(Process process, String what, BooleanSupplier that) throws Exception {
    for (int i = 0; i < 6000 && !that.getAsBoolean(); i++) {
      assertTrue(process.isAlive(), () -> "ended before: " + what + "; " + text("err"));
      Thread.sleep(10);
    }
    assertTrue(that.getAsBoolean(), () -> what + "; " + text("out") + text("err"));
  }

  private static int awaitEnd(Process process) throws InterruptedException {
    assertTrue(process.waitFor(2, TimeUnit.MINUTES), "it does not end");
    return process.exitValue();
  }

  /** Copies what a class comes from, and returns the class path that has the copy instead. */
  private String withCopyOf(Class<?> type, Path copy) throws Exception {
    Path original = Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    if (Files.isDirectory(original)) {
      copyTree(original, copy);
    } else {
      try (FileSystem jar = FileSystems.newFileSystem(original)) {
        copyTree(jar.getPath("/"), copy);
      }
    }
    List<String> parts = new ArrayList<>();
    for (String part : classPath().split(File.pathSeparator)) {
      boolean same = Files.exists(Path.of(part)) && Files.isSameFile(Path.of(part), original);
      parts.add(same ? copy.toString() : part);
    }
    assertTrue(parts.contains(copy.toString()), () -> original + " is not in " + classPath());
    return String.join(File.pathSeparator, parts);
  }

  private static void copyTree(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path each : files.toList()) {
        Path target = to.resolve(from.relativize(each).toString());
        if (Files.isDirectory(each)) {
          Files.createDirectories(target);
        } else {
          Files.copy(each, target);
        }
      }
    }
  }

  /** As when the jars of a running server are replaced. */
  @Test
  void aThreadThatCannotLoadAClassEndsTheServerWithOneLine() throws Exception {
    Path copy = directory.resolve("classes");
    String withCopy = withCopyOf(Device.class, copy);
    Process server = start(java(flags(), withCopy, server("--listen", "127.0.0.1:0")));
    awaitThat(server, "serving", () -> text("out").contains("serving "));
    try (ErdaClient local = ErdaClient.connect("erda+shm:" + data())) {
      local.put(new byte[] {1}, new byte[] {2});
      // The classes of a connection over TCP are not loaded yet.
      try (Stream<Path> classes = Files.list(copy.resolve("io/erda/rdma/tcp"))) {
        for (Path each : classes.toList()) {
          Files.delete(each);
        }
      }
      String uri = text("out").replaceFirst("(?s).*(erda://\\S+) .*", "$1");
      assertThrows(ErdaException.class, () -> ErdaClient.connect(uri).close());
      assertEquals(1, awaitEnd(server), () -> text("err"));
    }
    String err = text("err");
    List<String> lines = err.lines().filter(line -> line.contains("erda-tcp")).toList();
    assertEquals(2, lines.size(), err); // in the log, and what the command says at its end
    assertTrue(lines.getLast().startsWith("erda: server failed: the thread erda-tcp ended: "), err);
    assertTrue(lines.getLast().contains("a class can't be loaded"), err);
    assertTrue(lines.getLast().contains("start it again"), err);
    assertFalse(err.contains("\tat "), err);
    assertTrue(Files.exists(data().resolve("stopped")), "its own thread stops the store in order");
  }

  /** The first signal comes at any moment from the first line of the start on. */
  @Test
  void sigtermWhileItStartsIsACleanEnd() throws Exception {
    Random random = new Random(SEED);
    for (int i = 0; i < STARTS; i++) {
      List<String> arguments = server("--child");
      Files.deleteIfExists(said("out"));
      Process server = start(java(flags(), classPath(), arguments));
      awaitThat(server, "opening", () -> text("out").contains("opening "));
      TimeUnit.MICROSECONDS.sleep(random.nextInt(i < 2 ? 1 : 300_000));
      server.destroy();
      assertEquals(0, awaitEnd(server), () -> "-Derda.seed=" + SEED + " " + text("err"));
      assertEquals("", text("err").replaceAll("(?m)^\\S+Z INFO .*\n", ""));
      assertTrue(Files.exists(data().resolve("stopped")), "stopped as cleanly as ever");
    }
    assertEquals(List.of(), StoreVerifier.verify(data()).findings());
  }

  @Test
  void aJvmThatDeniesForeignCallsIsToldWhatItNeeds() throws Exception {
    List<String> denying = new ArrayList<>(flags());
    denying.removeIf(flag -> flag.startsWith("--enable-native-access"));
    denying.add("--illegal-native-access=deny");
    Process server = start(java(denying, classPath(), server()));
    assertEquals(1, awaitEnd(server));
    assertOneLine("--enable-native-access=ALL-UNNAMED");
    assertTrue(Files.notExists(data()), "it left a store");
    Process get =
        start(java(denying, classPath(), List.of("get", "--uri", "erda+shm:" + data(), "k")));
    assertEquals(1, awaitEnd(get));
    assertOneLine("--enable-native-access=ALL-UNNAMED");
  }

  private void assertOneLine(String what) {
    String err = text("err");
    assertEquals(1, err.lines().filter(line -> line.startsWith("erda: ")).count(), err);
    assertTrue(err.contains(what), err);
    assertFalse(err.contains("Error") || err.contains("\tat "), err);
  }

  /** The limit counts the threads of a user: this one has no others. */
  @Test
  void aServerThatMayHaveNoMoreThreadsSaysSo() throws Exception {
    assumeTrue(Files.getAttribute(directory, "unix:uid").equals(0), "the superuser alone can");
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/setpriv")), "setpriv is not installed");
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/prlimit")), "prlimit is not installed");
    int user = 61_000 + (int) (ProcessHandle.current().pid() % 1000);
    Path home = Files.createDirectory(directory.resolve("theirs"));
    Files.setAttribute(home, "unix:uid", user);
    Files.setAttribute(directory, "unix:mode", 0755);
    List<String> outcomes = new ArrayList<>();
    for (int threads = 16; threads <= 40; threads += 4) {
      List<String> words =
          new ArrayList<>(
              List.of(
                  "/usr/bin/setpriv",
                  "--reuid=" + user,
                  "--regid=" + user,
                  "--clear-groups",
                  // The jars may lie where the superuser alone can read.
                  "--inh-caps=+dac_override",
                  "--ambient-caps=+dac_override",
                  "/usr/bin/prlimit",
                  "--nproc=" + threads));
      List<String> arguments =
          new ArrayList<>(List.of("server", "--data", home.resolve("store").toString(), "--child"));
      arguments.addAll(SMALL);
      words.addAll(java(flags(), classPath(), arguments));
      Process server = start(words);
      for (int i = 0; i < 6000 && server.isAlive() && !text("out").contains("serving "); i++) {
        Thread.sleep(10);
      }
      boolean served = text("out").contains("serving ");
      server.destroy();
      int exitCode = awaitEnd(server);
      String err = text("err");
      outcomes.add("%d threads: %d, %s".formatted(threads, exitCode, err));
      // Below some number the JVM itself does not start, and prints its own message.
      boolean started = text("out").contains("opening ");
      if (started && !served && exitCode != 0) {
        assertTrue(err.contains("erda: "), err);
        assertTrue(err.toLowerCase(Locale.ROOT).contains("no more threads"), err);
        assertFalse(err.contains("\tat "), err);
        assertTrue(Files.notExists(home.resolve("store")), () -> "it left a store: " + err);
        return;
      }
    }
    assumeTrue(false, "no number of threads ended a start half-way: " + outcomes);
  }

  @Test
  void theLastLineIsInTheLogOfJavaUtilLogging() throws Exception {
    Path log = directory.resolve("server.log");
    Path configuration = directory.resolve("logging.properties");
    Files.writeString(
        configuration,
        """
        handlers=java.util.logging.FileHandler
        java.util.logging.FileHandler.pattern=%s
        java.util.logging.FileHandler.formatter=java.util.logging.SimpleFormatter
        """
            .formatted(log),
        UTF_8);
    List<String> configured = new ArrayList<>(flags());
    configured.add("-Djava.util.logging.config.file=" + configuration);
    for (int i = 0; i < 3; i++) {
      Files.deleteIfExists(said("out"));
      Process server = start(java(configured, classPath(), server()));
      awaitThat(server, "serving", () -> text("out").contains("serving "));
      server.destroy();
      assertEquals(0, awaitEnd(server), () -> text("err"));
      String logged = Files.readString(log);
      assertTrue(logged.stripTrailing().endsWith("INFO: ended"), logged);
      try (Stream<Path> files = Files.list(directory)) {
        assertEquals(0, files.filter(each -> each.toString().endsWith(".lck")).count());
      }
    }
  }

  /**
   * Ending a server whose store was read-only is reported as a failure, even if it ends in order.
   */
  @Test
  void theEndOfAReadOnlyStoreIsNoSuccess() throws Exception {
    Process server = start(java(flags(), classPath(), server()));
    awaitThat(server, "serving", () -> text("out").contains("serving "));
    try (ErdaClient erda = ErdaClient.connect("erda+shm:" + data());
        Stream<Path> files = Files.list(data())) {
      erda.put(new byte[] {1}, new byte[] {2});
      for (Path file : files.toList()) {
        if (file.getFileName().toString().startsWith("region-")) {
          Files.write(file, new byte[0]);
        }
      }
      awaitThat(
          server,
          "the store is read-only",
          () -> {
            try {
              erda.put(new byte[] {1}, new byte[] {3});
            } catch (ErdaException e) {
              // Before the store is read-only and after that.
            }
            return text("err").contains("the store is read-only now");
          });
    }
    server.destroy();
    assertEquals(1, awaitEnd(server), () -> text("err"));
    String last = text("err").lines().reduce((one, next) -> next).orElse("");
    // Either the put notices it, or the thread that looks after the files.
    assertTrue(
        last.contains("server failed: the store was read-only: ")
            || last.contains("server failed: the files of the store were removed from "),
        last);
    assertTrue(last.contains("was shortened while it was in use"), last);
  }

  /** A terminal would obey what is in the name of a file. */
  @Test
  void namesOfFilesAreOneLineAndLeadToThemselves() throws Exception {
    Path odd = directory.resolve("a\u001b[31m\nb?read-only");
    List<String> arguments = new ArrayList<>(List.of("server", "--data", odd.toString()));
    arguments.addAll(SMALL);
    Process server = start(java(flags(), classPath(), arguments));
    awaitThat(server, "serving", () -> text("out").contains("serving "));
    String uri = "erda+shm:" + odd + "/";
    try (ErdaClient erda = ErdaClient.connect(uri)) {
      erda.put(new byte[] {1}, new byte[] {2});
    }
    server.destroy();
    assertEquals(0, awaitEnd(server), () -> text("err"));
    for (String each : List.of(text("out"), text("err"))) {
      assertFalse(each.contains("\u001b"), each);
    }
    assertEquals(1, text("out").lines().count(), text("out"));
    assertTrue(
        text("out").contains(" at erda+shm:" + directory + "/a\\u001b[31m\\u000ab?read-only/ "),
        text("out"));
  }
}
