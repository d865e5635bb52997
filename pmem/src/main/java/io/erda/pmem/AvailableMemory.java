package io.erda.pmem;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * How much memory this process can have, page cache included: what the machine has, or less where a
 * control group limits it, as in a container.
 */
public final class AvailableMemory {
  /** Version 1 of control groups says so, or about so, where there is no limit. */
  private static final long NO_LIMIT = 1L << 60;

  private final Path root;

  /**
   * @param root of the file system, for tests
   */
  AvailableMemory(Path root) {
    this.root = root;
  }

  private static final class OfThisProcess {
    static final long BYTES = new AvailableMemory(Path.of("/")).find();
  }

  /** Bytes, as they were when somebody asked first. */
  public static long bytes() {
    return OfThisProcess.BYTES;
  }

  /** Returns the largest number where nothing says how much it is. */
  long find() {
    long bytes = total();
    for (String line : lines("proc/self/cgroup")) {
      String[] fields = line.split(":", 3);
      if (fields.length == 3 && fields[1].isEmpty()) {
        bytes = Math.min(bytes, limit("sys/fs/cgroup", fields[2], "memory.max", "memory.high"));
      } else if (fields.length == 3 && List.of(fields[1].split(",")).contains("memory")) {
        bytes = Math.min(bytes, limit("sys/fs/cgroup/memory", fields[2], "memory.limit_in_bytes"));
      }
    }
    return bytes;
  }

  private long total() {
    return lines("proc/meminfo").stream()
        .filter(line -> line.matches("MemTotal: +\\d{1,12} kB"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
        .findFirst()
        .orElse(Long.MAX_VALUE);
  }

  /**
   * The least that a group and those around it may have. In a container the path may be one of
   * outside, and what is mounted is the container's own group.
   */
  private long limit(String mounted, String path, String... names) {
    Path top = root.resolve(mounted);
    Path group = top.resolve("." + path).normalize();
    long least = Long.MAX_VALUE;
    for (group = group.startsWith(top) ? group : top;
        group.startsWith(top);
        group = group.getParent()) {
      for (String name : names) {
        least = Math.min(least, number(group.resolve(name)));
      }
    }
    return least;
  }

  private static long number(Path file) {
    try {
      String text = Files.readString(file).strip();
      long number = text.matches("\\d{1,19}") ? Long.parseLong(text) : Long.MAX_VALUE;
      return number < NO_LIMIT ? number : Long.MAX_VALUE;
    } catch (IOException | NumberFormatException e) {
      return Long.MAX_VALUE;
    }
  }

  private List<String> lines(String file) {
    try (Stream<String> lines = Files.lines(root.resolve(file))) {
      return lines.toList();
    } catch (IOException | UncheckedIOException e) {
      return List.of();
    }
  }
}
