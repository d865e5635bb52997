package io.erda.pmem;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * The amount of memory that this process can have, page cache included: the memory of the machine,
 * or less where a control group limits it, as in a container.
 */
public final class AvailableMemory {
  private AvailableMemory() {}

  private static final class OfThisProcess {
    static final long BYTES = find(Path.of("/proc"), Path.of("/sys"));
  }

  /** Returns the amount in bytes. It is determined at the first call. */
  public static long bytes() {
    return OfThisProcess.BYTES;
  }

  /**
   * Returns the amount in bytes; {@link Long#MAX_VALUE} when it can't be determined from either
   * directory.
   */
  static long find(Path proc, Path sys) {
    return Math.min(total(proc), new ControlGroup(proc, sys).memoryBytes());
  }

  private static long total(Path proc) {
    try (Stream<String> lines = Files.lines(proc.resolve("meminfo"))) {
      return lines
          .filter(line -> line.matches("MemTotal: +\\d{1,12} kB"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
          .findFirst()
          .orElse(Long.MAX_VALUE);
    } catch (IOException | UncheckedIOException e) {
      return Long.MAX_VALUE;
    }
  }
}
