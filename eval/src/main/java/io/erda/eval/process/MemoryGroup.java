package io.erda.eval.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A control group of the kernel (cgroup, version 1 or 2) that limits the memory of all processes
 * started in it together, including the page cache of their files; version 1 does not count swapped
 * memory. Making one takes root, or a surrounding group that belongs to the user, as from
 * systemd-run --user --scope. It is removed with the {@link Children} it was made for. One thread.
 */
public final class MemoryGroup {
  private static final int TRIES = 100;
  private static final long BETWEEN_TRIES_MS = 20;

  private final Path directory;

  private MemoryGroup(Path directory) {
    this.directory = directory;
  }

  /**
   * Makes a group.
   *
   * @param children the owner of its processes
   * @param bytes the memory limit of these
   * @throws ProcessException when that is impossible, with the reason
   */
  public static MemoryGroup make(Children children, long bytes) {
    return make(children, bytes, Path.of("/proc/self/mounts"), Path.of("/proc/self/cgroup"));
  }

  /**
   * Makes a group at the place that these files describe.
   *
   * @param mounts a file like /proc/self/mounts
   * @param own a file like /proc/self/cgroup, with the groups of this process
   */
  static MemoryGroup make(Children children, long bytes, Path mounts, Path own) {
    try {
      Hierarchy hierarchy = Hierarchy.find(Files.readAllLines(mounts), Files.readAllLines(own));
      Path directory = Files.createTempDirectory(hierarchy.parent(), "erda-eval-");
      MemoryGroup group = new MemoryGroup(directory);
      children.afterwards(group::remove);
      hierarchy.limit(directory, bytes);
      return group;
    } catch (IOException | UncheckedIOException e) {
      throw new ProcessException(
          "no control group can be made to limit memory (that takes root, or systemd-run --user"
              + " --scope): "
              + e.getMessage(),
          e);
    }
  }

  /** The beginning of a command line that starts a process in the group. */
  public List<String> start() {
    return List.of(
        "/bin/sh",
        "-c",
        "echo $$ > \"$0\" && exec \"$@\"",
        directory.resolve("cgroup.procs").toString());
  }

  /** Number of pages of files that were evicted from memory and have been read again. */
  public long pagesReadAgain() {
    String name = "workingset_refault_file ";
    try (Stream<String> lines = Files.lines(directory.resolve("memory.stat"))) {
      return lines
          .filter(line -> line.startsWith(name))
          .mapToLong(line -> Long.parseLong(line.substring(name.length())))
          .findFirst()
          .orElseThrow(
              () -> new ProcessException("the kernel does not count pages that are read again"));
    } catch (IOException | UncheckedIOException | NumberFormatException e) {
      throw new ProcessException("can't read what a control group has used: " + e.getMessage(), e);
    }
  }

  /** Removes it; the kernel needs some time until killed processes have left it. */
  private void remove() {
    for (int i = 1; ; i++) {
      try {
        Files.deleteIfExists(directory);
        return;
      } catch (IOException e) {
        if (i == TRIES) {
          throw new UncheckedIOException("can't remove the control group " + directory, e);
        }
        sleep();
      }
    }
  }

  /** Sleeps, even if interrupted: the rest of a run must be removed in any case. */
  private static void sleep() {
    boolean interrupted = Thread.interrupted();
    try {
      TimeUnit.MILLISECONDS.sleep(BETWEEN_TRIES_MS);
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * The place for groups that limit memory.
   *
   * @param parent of new groups
   * @param second whether it has version 2 of the interface
   */
  private record Hierarchy(Path parent, boolean second) {
    /**
     * Finds the hierarchy with the memory controller: version 1 if that has it, otherwise version
     * 2.
     */
    static Hierarchy find(List<String> mounts, List<String> own) throws IOException {
      for (String mount : mounts) {
        String[] fields = mount.split(" ");
        if (fields.length > 3
            && fields[2].equals("cgroup")
            && List.of(fields[3].split(",")).contains("memory")) {
          Path root = Path.of(fields[1]);
          Path mine = root.resolve("." + path(own, "memory"));
          return new Hierarchy(Files.isDirectory(mine) ? mine.normalize() : root, false);
        }
      }
      for (String mount : mounts) {
        String[] fields = mount.split(" ");
        if (fields.length > 3 && fields[2].equals("cgroup2")) {
          return second(Path.of(fields[1]), Path.of(path(own, "")));
        }
      }
      throw new IOException("this system has none");
    }

    /**
     * A parent in version 2. A group with processes can't have subgroups with limits, except the
     * root.
     */
    private static Hierarchy second(Path root, Path own) throws IOException {
      Path above = own.getParent() == null ? own : own.getParent();
      Path parent = root.resolve("." + above).normalize();
      Path control = parent.resolve("cgroup.subtree_control");
      if (!List.of(Files.readString(control).strip().split(" ")).contains("memory")) {
        Files.writeString(control, "+memory");
      }
      return new Hierarchy(parent, true);
    }

    /** The path of the group that this process is in; lines are ID:CONTROLLERS:PATH. */
    private static String path(List<String> own, String controller) {
      return own.stream()
          .map(line -> line.split(":", 3))
          .filter(fields ->
              fields.length == 3 && List.of(fields[1].split(",", -1)).contains(controller))
          .map(fields -> fields[2])
          .findFirst()
          .orElse("/");
    }

    void limit(Path group, long bytes) throws IOException {
      Files.writeString(
          group.resolve(second ? "memory.max" : "memory.limit_in_bytes"), Long.toString(bytes));
      Path swap = group.resolve("memory.swap.max");
      if (second && Files.exists(swap)) {
        Files.writeString(swap, "0");
      }
    }
  }
}
