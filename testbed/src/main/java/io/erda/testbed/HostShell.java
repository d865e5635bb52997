package io.erda.testbed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Commands of the host. Each dies with the thread that started it (PR_SET_PDEATHSIG). */
final class HostShell {
  private HostShell() {}

  /** The output of a command, both streams together, and its exit code; -1: it took too long. */
  record Result(int exitCode, List<String> lines) {
    String tail() {
      return lines.isEmpty() ? "(nothing)" : lines.getLast();
    }
  }

  static ProcessBuilder builder(List<String> command) {
    List<String> all = new ArrayList<>(List.of("setpriv", "--pdeathsig", "KILL", "--"));
    all.addAll(command);
    return new ProcessBuilder(all);
  }

  /** Runs a command with its output in {@code log}, and ends it after a number of seconds. */
  static Result run(Path log, int seconds, List<String> command) {
    try {
      Process process =
          builder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
      boolean ended = process.waitFor(seconds, TimeUnit.SECONDS);
      if (!ended) {
        process.destroyForcibly().waitFor();
      }
      return new Result(ended ? process.exitValue() : -1, Files.readAllLines(log));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Runs a command that must succeed. */
  static void must(Path log, String... command) {
    Result result = run(log, 60, Arrays.asList(command));
    if (result.exitCode() != 0) {
      throw new IllegalStateException(String.join(" ", command) + ": " + result.tail());
    }
  }
}
