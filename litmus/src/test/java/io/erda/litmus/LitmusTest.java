package io.erda.litmus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the {@code …Stress} classes of this module: jcstress starts separate JVMs, with the
 * interpreter, both compilers, and random orders of compiled code. With {@code
 * -Derda.litmus.seconds=N} each test runs for N seconds in each JVM, instead of for a moment.
 */
@Tag("long")
final class LitmusTest {
  private static final long SECONDS = Long.getLong("erda.litmus.seconds", 0);
  private static final List<String> STRESSED =
      List.of(
          "RingStress",
          "PublicationStress",
          "MoveStress",
          "SharedTurnStress",
          "CommitTurnStress",
          "CommitRecordStress");

  @TempDir Path directory;

  @Test
  void nothingForbiddenIsSeen() throws Exception {
    String said = stress();
    assertTrue(said.contains("Failed tests: No matches."), said);
    assertTrue(said.contains("Error tests: No matches."), said);
    for (String name : STRESSED) {
      assertTrue(said.contains("." + name), said);
    }
  }

  private String stress() throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Djava.io.tmpdir=" + directory);
    command.addAll(
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(flag -> flag.startsWith("--"))
            .toList());
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), "org.openjdk.jcstress.Main", "-v"));
    command.addAll(List.of("-r", directory.resolve("results").toString(), "-f", "1", "-fsm", "1"));
    // States at a time: fewer than a pool has places.
    command.addAll(List.of("-strideSize", "128", "-strideCount", "8"));
    command.addAll(
        SECONDS == 0
            ? List.of("-iters", "1", "-time", "100", "-sc", "false")
            : List.of("-iters", Long.toString(SECONDS), "-time", "1000"));
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertTrue(process.waitFor(300 + 60 * SECONDS, TimeUnit.SECONDS), "jcstress does not end");
      String said = Files.readString(output);
      assertEquals(0, process.exitValue(), said);
      return said;
    } finally {
      process.destroyForcibly();
    }
  }
}
