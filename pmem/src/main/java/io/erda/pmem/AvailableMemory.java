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

  /**
   * Returns the amount in bytes. Each call reads it from the kernel's files, which takes some 0.1
   * ms. It is not kept in a static field: an exhausted heap at the first call would break the class
   * for all later ones.
   */
  public static long bytes() {
    return find(Path.of("/proc"), Path.of("/sys"));
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
