package io.erda.eval.experiments.keeping;

import io.erda.eval.process.ProcessException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a process holds, by the kernel's account.
 *
 * @param memoryBytes pages of its own, not those of files
 * @param descriptors open files
 * @param mappings mapped stretches of memory
 * @param threads threads
 */
record ProcessFigures(long memoryBytes, long descriptors, long mappings, long threads) {
  /**
   * Looks at a process.
   *
   * @throws ProcessException when there is none, or it is another user's
   */
  static ProcessFigures of(long pid) {
    Path process = Path.of("/proc", Long.toString(pid));
    try {
      List<String> status = Files.readAllLines(process.resolve("status"));
      return new ProcessFigures(
          number(status, "RssAnon:") * 1024,
          entries(process.resolve("fd")),
          lines(process.resolve("maps")),
          number(status, "Threads:"));
    } catch (IOException e) {
      throw new ProcessException("can't look at process " + pid + ": " + e.getMessage(), e);
    }
  }

  /**
   * The number behind a name in a {@code status}.
   *
   * @throws IOException when there is none
   */
  static long number(List<String> status, String name) throws IOException {
    for (String line : status) {
      if (line.startsWith(name)) {
        return Long.parseLong(line.substring(name.length()).replace("kB", "").strip());
      }
    }
    throw new IOException("no line " + name + " in its status");
  }

  private static long entries(Path directory) throws IOException {
    try (Stream<Path> all = Files.list(directory)) {
      return all.count();
    }
  }

  private static long lines(Path file) throws IOException {
    try (Stream<String> all = Files.lines(file)) {
      return all.count();
    }
  }
}
