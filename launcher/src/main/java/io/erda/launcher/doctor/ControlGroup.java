package io.erda.launcher.doctor;

import java.nio.file.Path;

/**
 * What the control groups (version 2) of this process allow it.
 *
 * @param cores of processor time at a time; infinite without a limit
 * @param memoryBytes page cache of its files included; {@link Long#MAX_VALUE} without a limit
 */
record ControlGroup(double cores, long memoryBytes) {
  private static final String OURS = "0::";

  /** The least that a group, or one above it, allows. */
  static ControlGroup of(Surroundings surroundings) {
    double cores = Double.POSITIVE_INFINITY;
    long memory = Long.MAX_VALUE;
    Path root = surroundings.sys().resolve("fs/cgroup");
    Path group = root;
    for (String line : Surroundings.lines(surroundings.proc().resolve("self/cgroup"))) {
      if (line.startsWith(OURS)) {
        group = root.resolve("." + line.substring(OURS.length())).normalize();
        // In a container the group may be named from outside of what is seen here.
        group = group.startsWith(root) ? group : root;
      }
    }
    while (group.startsWith(root)) {
      cores = Math.min(cores, cores(Surroundings.line(group.resolve("cpu.max"))));
      memory = Math.min(memory, bytes(Surroundings.line(group.resolve("memory.max"))));
      group = group.getParent();
    }
    return new ControlGroup(cores, memory);
  }

  /** The file holds microseconds of processor time, and of the time in which they may be used. */
  private static double cores(String quotaAndPeriod) {
    String[] words = quotaAndPeriod.split(" ", -1);
    return words.length == 2 && isNumber(words[0]) && isNumber(words[1])
        ? Double.parseDouble(words[0]) / Double.parseDouble(words[1])
        : Double.POSITIVE_INFINITY;
  }

  private static long bytes(String text) {
    return isNumber(text) ? Long.parseLong(text) : Long.MAX_VALUE;
  }

  private static boolean isNumber(String text) {
    return text.matches("[0-9]{1,18}");
  }
}
