package io.erda.launcher.doctor;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A mounted file system.
 *
 * @param at the directory
 * @param type as the kernel calls it, for example {@code ext4}
 * @param source what is mounted, for example a device
 * @param options the options of this mount and of the file system
 */
record Mount(Path at, String type, String source, List<String> options) {
  // A line of mountinfo: ID, parent, device, root, directory, options, further words, "-", type,
  // source, options of the file system.
  private static final int DIRECTORY = 4;
  private static final int OPTIONS = 5;
  private static final String BEHIND = " - ";

  /** The mount of a file or directory; null when it is unknown. */
  static Mount of(Path proc, Path file) {
    Mount nearest = null;
    for (String line : Surroundings.lines(proc.resolve("self/mountinfo"))) {
      Mount mount = parse(line);
      // A later line covers an earlier one of the same directory.
      if (mount != null
          && file.startsWith(mount.at)
          && (nearest == null || mount.at.getNameCount() >= nearest.at.getNameCount())) {
        nearest = mount;
      }
    }
    return nearest;
  }

  /** All mounts of a device. */
  static List<Mount> ofDevice(Path proc, Path device) {
    List<Mount> all = new ArrayList<>();
    for (String line : Surroundings.lines(proc.resolve("self/mountinfo"))) {
      Mount mount = parse(line);
      if (mount != null && mount.source.equals(device.toString())) {
        all.add(mount);
      }
    }
    return all;
  }

  private static Mount parse(String line) {
    int behind = line.indexOf(BEHIND);
    String[] before = line.split(" ", -1);
    if (behind < 0 || before.length <= OPTIONS) {
      return null;
    }
    String[] words = line.substring(behind + BEHIND.length()).split(" ", -1);
    List<String> options = new ArrayList<>(List.of(before[OPTIONS].split(",", -1)));
    if (words.length > 2) {
      options.addAll(List.of(words[2].split(",", -1)));
    }
    String source = words.length > 1 ? unescaped(words[1]) : "";
    return new Mount(Path.of(unescaped(before[DIRECTORY])), words[0], source, options);
  }

  private static String unescaped(String path) {
    return path.replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\");
  }

  /** Whether its files are mapped with DAX, or can be. */
  boolean isDax() {
    String option = option("dax");
    return option != null && !option.equals("dax=never");
  }

  boolean isReadOnly() {
    return options.contains("ro");
  }

  String mendReadOnly() {
    return "mount -o remount,rw " + at;
  }

  /** The value of an option, for example {@code huge=always}; null when it is not set. */
  String option(String name) {
    for (String each : options) {
      if (each.equals(name) || each.startsWith(name + "=")) {
        return each;
      }
    }
    return null;
  }
}
