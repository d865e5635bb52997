package io.erda.eval.experiments;

import io.erda.eval.process.ProcessException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** How often a process met a page that was not there for it yet. */
final class PageFaults {
  /** In {@code /proc/PID/stat}, counted from what follows the name of the command. */
  private static final int MINOR_FAULTS = 7;

  private PageFaults() {}

  static long of(long pid) {
    try {
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
      return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[MINOR_FAULTS]);
    } catch (IOException e) {
      throw new ProcessException("can't read the page faults of process " + pid, e);
    }
  }
}
