package io.erda.launcher.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.erda.launcher.Main;
import io.erda.launcher.posix.OwnProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes whose directory for temporary files is mounted noexec, as is the one that they run in:
 * a tmpfs in a mount namespace of their own. For the superuser, and users who may have such a
 * namespace.
 */
class NoExecTest {
  @TempDir Path home;

  /** Prints the limits and the user that the C library reports. */
  static final class Asking {
    public static void main(String[] arguments) {
      for (KernelLimits.Of what : KernelLimits.Of.values()) {
        System.out.println(KernelLimits.ofLibrary(what));
      }
      System.out.println(OwnProcess.userName());
    }
  }

  private Process start(Class<?> main, String... arguments) throws IOException {
    Path mounted = home.resolve("mounted");
    Files.createDirectories(mounted);
    List<String> command =
        new ArrayList<>(
            List.of(
                "unshare",
                "--mount",
                "--map-root-user",
                "sh",
                "-c",
                "mount -t tmpfs -o noexec none \"$0\" && cd \"$0\" && exec \"$@\"",
                mounted.toString(),
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Djava.io.tmpdir=" + mounted,
                "-Duser.home=" + home,
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                absoluteClassPath(),
                main.getName()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("TMPDIR", mounted.toString());
    builder.environment().remove("XDG_RUNTIME_DIR");
    return builder.redirectErrorStream(true).start();
  }

  private static String absoluteClassPath() {
    return Stream.of(System.getProperty("java.class.path").split(":"))
        .map(entry -> Path.of(entry).toAbsolutePath().toString())
        .reduce((some, next) -> some + ":" + next)
        .orElseThrow();
  }

  private static void assumeThatSomethingCanBeMounted() throws Exception {
    Process tried =
        new ProcessBuilder(
                "unshare", "--mount", "--map-root-user", "mount", "-t", "tmpfs", "none", "/mnt")
            .redirectErrorStream(true)
            .start();
    String said = new String(tried.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assumeTrue(tried.waitFor() == 0, () -> "nothing can be mounted here: " + said);
  }

  @Test
  void theLibraryIsAskedAllTheSame() throws Exception {
    assumeThatSomethingCanBeMounted();
    Process asking = start(Asking.class);
    String said = new String(asking.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, asking.waitFor(), said);
    List<String> lines = said.lines().toList();
    assertEquals(KernelLimits.Of.values().length + 1, lines.size(), said);
    assertTrue(lines.stream().noneMatch("-1"::equals), said);
    assertEquals("root", lines.getLast());
    try (Stream<Path> left = Files.list(home)) {
      assertEquals(List.of(home.resolve("mounted")), left.toList(), "left behind");
    }
  }

  @Test
  void aServerServes() throws Exception {
    assumeThatSomethingCanBeMounted();
    Process server =
        start(
            Main.class,
            "server",
            "--data",
            home.resolve("data").toString(),
            "--region-bytes",
            "1M",
            "--capacity",
            "64M",
            "--buckets",
            "4096",
            // These need the library.
            "--nice",
            "19",
            "--umask",
            "077");
    try (BufferedReader said = server.inputReader(StandardCharsets.UTF_8)) {
      StringBuilder all = new StringBuilder();
      String line = said.readLine();
      while (line != null && !line.startsWith("serving ")) {
        all.append(line).append('\n');
        line = said.readLine();
      }
      assertTrue(line != null, all::toString);
      server.destroy();
      assertEquals(0, server.waitFor(), all::toString);
    } finally {
      server.destroyForcibly();
      assertTrue(server.waitFor(1, TimeUnit.MINUTES));
    }
  }
}
