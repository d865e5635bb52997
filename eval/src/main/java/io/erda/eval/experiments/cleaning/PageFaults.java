package io.erda.eval.experiments.cleaning;

import io.erda.eval.process.ProcessException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The number of page faults of a process. */
final class PageFaults {
  /**
   * The beginning of {@code /proc/PID/stat}: PID, command, state, six numbers, minor faults. The
   * command may have spaces and parentheses.
   */
  private static final Pattern STAT =
      Pattern.compile("\\d+ \\(.*\\) \\S(?: -?\\d+){6} (\\d{1,18}) .*", Pattern.DOTALL);

  private PageFaults() {}

  static long of(long pid) {
    try {
      return minor(Files.readString(Path.of("/proc/" + pid + "/stat")));
    } catch (IOException e) {
      throw new ProcessException(
          "can't read the page faults of process " + pid + ": " + e.getMessage(), e);
    }
  }

  /**
   * The minor faults in a {@code stat}.
   *
   * @throws IOException when it is something else
   */
  static long minor(String stat) throws IOException {
    Matcher fields = STAT.matcher(stat);
    if (!fields.matches()) {
      throw new IOException("'" + stat.strip() + "' is no stat");
    }
    return Long.parseLong(fields.group(1));
  }
}
