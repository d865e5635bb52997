package io.erda.eval.experiments.keeping;

import io.erda.eval.process.ProcessException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The resources of a process, by the kernel's account.
 *
 * @param memoryBytes its private pages, not those of files
 * @param descriptors open files
 * @param mappings memory mappings
 * @param threads threads
 */
record ProcessFigures(long memoryBytes, long descriptors, long mappings, long threads) {
  /**
   * Reads the resources of a process.
   *
   * @throws ProcessException when it does not exist, or is another user's
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
   * The number after a name in a {@code status} file.
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
