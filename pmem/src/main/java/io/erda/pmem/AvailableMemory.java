package io.erda.pmem;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * The amount of memory that this process can have, page cache included: the memory of the machine,
 * or less where a control group limits it, as in a container.
 */
public final class AvailableMemory {
  private AvailableMemory() {}

  /** The amount for this process; 0 before it is determined. */
  private static final AtomicLong OF_THIS_PROCESS = new AtomicLong();

  /**
   * Returns the amount in bytes. It is determined at the first call that succeeds: an error of a
   * call, because the heap is exhausted for example, harms no later one.
   */
  public static long bytes() {
    long known = OF_THIS_PROCESS.get();
    if (known == 0) {
      known = find(Path.of("/proc"), Path.of("/sys"));
      OF_THIS_PROCESS.set(known);
    }
    return known;
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
