package io.erda.eval.experiments.cleaning;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The size of the files of a store's log, including those kept for reuse. */
final class LogFileSizes {
  private static final String NAMES = "(region|spare|left)-.*";

  /**
   * The sum of the files' lengths, bytes. A file that is removed during the call does not count.
   */
  static long bytes(Path data) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.list(data)) {
      files = all.filter(file -> file.getFileName().toString().matches(NAMES)).toList();
    }
    long bytes = 0;
    for (Path file : files) {
      bytes += bytesOf(file);
    }
    return bytes;
  }

  private static long bytesOf(Path file) {
    try {
      return Files.size(file);
    } catch (IOException e) {
      return 0;
    }
  }

  private LogFileSizes() {}
}
