package io.erda.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The kernel's limits for this process, as read from {@code /proc}. */
final class ProcessLimits {
  private static final Path LIMITS = Path.of("/proc/self/limits");

  /** The soft limit comes first. */
  private static final Pattern FILE_BYTES =
      Pattern.compile("^Max file size +(\\d{1,18}|unlimited) ", Pattern.MULTILINE);

  /**
   * Returns the text to add to an out-of-space message: it names the file-size limit when that is
   * the reason, and is otherwise empty.
   */
  static String explain(long fileBytes) {
    long soft = fileBytesMax(LIMITS);
    return soft >= 0 && soft < fileBytes
        ? "; the file-size limit of this process (ulimit -f) is "
            + soft
            + " bytes, a file of the store takes "
            + fileBytes
        : "";
  }

  /**
   * Returns the most bytes that a file may have: {@link Long#MAX_VALUE} when there is no limit, −1
   * when the list has no such line.
   *
   * @param limits a file like {@code /proc/PID/limits}
   */
  static long fileBytesMax(Path limits) {
    try {
      Matcher line = FILE_BYTES.matcher(Files.readString(limits));
      if (!line.find()) {
        return -1;
      }
      return line.group(1).equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(line.group(1));
    } catch (IOException e) {
      return -1;
    }
  }

  private ProcessLimits() {}
}
