package io.erda.pmem;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * The limits of this process by control groups of version 1 and of version 2: the lowest limit of
 * its own group and of all groups that contain it.
 */
public final class ControlGroup {
  private static final String VERSION_2 = "";

  private final Path proc;
  private final Path mounted;

  /**
   * @param proc where the kernel's {@code /proc} is
   * @param sys where the kernel's {@code /sys} is
   */
  public ControlGroup(Path proc, Path sys) {
    this.proc = proc;
    this.mounted = sys.resolve("fs/cgroup");
  }

  /**
   * The limit of memory in bytes, which includes the page cache of files; {@link Long#MAX_VALUE}
   * without a limit.
   */
  public long memoryBytes() {
    return Math.min(
        least(
            VERSION_2, group -> Math.min(bytes(group, "memory.max"), bytes(group, "memory.high"))),
        least("memory", group -> bytes(group, "memory.limit_in_bytes")));
  }

  /**
   * The limit of processor time in thousandths of a core; {@link Long#MAX_VALUE} without a limit.
   */
  public long millicores() {
    return Math.min(
        least(VERSION_2, group -> millicores(text(group, "cpu.max"))),
        least(
            "cpu",
            group ->
                millicores(
                    text(group, "cpu.cfs_quota_us") + " " + text(group, "cpu.cfs_period_us"))));
  }

  /**
   * The lowest limit of a controller's groups. In a container the path may be that of the host,
   * while the container's own group is mounted.
   */
  private long least(String controller, ToLongFunction<Path> limit) {
    long least = Long.MAX_VALUE;
    for (String line : text(proc, "self/cgroup").lines().toList()) {
      String[] fields = line.split(":", 3);
      if (fields.length == 3 && List.of(fields[1].split(",", -1)).contains(controller)) {
        // Version 1 mounts each controller, or several controllers together, in a directory.
        Path top = mounted.resolve(fields[1]);
        top = Files.isDirectory(top) ? top : mounted.resolve(controller);
        for (Path group = within(top, fields[2]);
            group.startsWith(top);
            group = group.getParent()) {
          least = Math.min(least, limit.applyAsLong(group));
        }
      }
    }
    return least;
  }

  /**
   * Returns the directory of the group with this name. Returns the mounted group itself when the
   * name leads out of it, or can't be a path.
   */
  private static Path within(Path top, String name) {
    try {
      Path group = top.resolve("." + name).normalize();
      return group.startsWith(top) ? group : top;
    } catch (InvalidPathException e) {
      return top; // this locale can't encode the name
    }
  }

  /**
   * When there is no limit, the file has a number of 19 digits in version 1, and a word in version
   * 2.
   */
  private static long bytes(Path group, String file) {
    String text = text(group, file);
    return text.matches("[0-9]{1,18}") ? Long.parseLong(text) : Long.MAX_VALUE;
  }

  /**
   * The argument has two numbers: microseconds of processor time, and the length of the period in
   * which they may be used, in microseconds.
   */
  private static long millicores(String quotaAndPeriod) {
    if (!quotaAndPeriod.matches("[0-9]{1,12} [1-9][0-9]{0,11}")) {
      return Long.MAX_VALUE;
    }
    String[] numbers = quotaAndPeriod.split(" ");
    return Long.parseLong(numbers[0]) * 1000 / Long.parseLong(numbers[1]);
  }

  /** The text of a file; empty when it can't be read. Bytes that are not UTF-8 are no error. */
  private static String text(Path directory, String file) {
    try {
      return new String(Files.readAllBytes(directory.resolve(file)), StandardCharsets.UTF_8)
          .strip();
    } catch (IOException e) {
      return "";
    }
  }
}
