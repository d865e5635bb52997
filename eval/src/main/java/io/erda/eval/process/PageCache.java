package io.erda.eval.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** Evicts files from the page cache, and reads them into it. */
public final class PageCache {
  private static final Duration TIMEOUT = Duration.ofMinutes(5);

  private final Children children;

  public PageCache(Children children) {
    this.children = children;
  }

  /**
   * Writes the files of a directory, which must not be mapped, to their device and drops them from
   * the cache.
   */
  public void evict(Path directory) {
    for (Path file : files(directory)) {
      run("sync", List.of("sync", file.toString()));
      run("dd", List.of("dd", "if=" + file, "iflag=nocache", "count=0", "status=none"));
    }
  }

  /** Reads the files of a directory. */
  public void warm(Path directory) {
    for (Path file : files(directory)) {
      run("dd", List.of("dd", "if=" + file, "of=/dev/null", "bs=1M", "status=none"));
    }
  }

  private void run(String name, List<String> command) {
    Child child = children.start(name, command);
    int exitCode = child.awaitEnd(TIMEOUT);
    if (exitCode != 0) {
      throw new ProcessException(
          String.join(" ", command) + " ended with exit code " + exitCode + child.errorTail());
    }
    children.forget(child);
  }

  private static List<Path> files(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(Files::isRegularFile).toList();
    } catch (IOException e) {
      throw new ProcessException("can't list " + directory + ": " + e.getMessage(), e);
    }
  }
}
