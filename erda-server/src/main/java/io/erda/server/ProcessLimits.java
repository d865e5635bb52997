package io.erda.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jnr.constants.platform.RLIMIT;
import jnr.posix.POSIX;
import jnr.posix.POSIXFactory;
import jnr.posix.RLimit;

/**
 * What the kernel grants this process. jnr-posix is asked only to explain an error: it unpacks a
 * library into the directory for temporary files, which may not be there, and takes its time. On
 * the module path it can't be asked at all without another JVM flag, since it loads that library
 * and uses Unsafe: there, and where it has no native half, the kernel's list of limits is read. It
 * is asked first because other kernels than Linux have no such list.
 */
final class ProcessLimits {
  private static final Path LIMITS = Path.of("/proc/self/limits");

  /** The soft limit comes first. */
  private static final Pattern FILE_BYTES =
      Pattern.compile("^Max file size +(\\d{1,18}|unlimited) ", Pattern.MULTILINE);

  /**
   * What to add to an out-of-space message: the file-size limit where it is the reason, else
   * nothing.
   */
  static String explain(long fileBytes) {
    long soft = fileBytesMax();
    return soft >= 0 && soft < fileBytes
        ? "; the file-size limit of this process (ulimit -f) is "
            + soft
            + " bytes, a file of the store takes "
            + fileBytes
        : "";
  }

  /** −1 when nobody can tell. */
  private static long fileBytesMax() {
    long told = ProcessLimits.class.getModule().isNamed() ? -1 : fileBytesMaxOfLibrary();
    return told >= 0 ? told : fileBytesMaxOfList(LIMITS);
  }

  /**
   * Returns the limit as {@link #fileBytesMaxOfList} does, or −1 when the library can't tell it.
   */
  static long fileBytesMaxOfLibrary() {
    try {
      POSIX posix = POSIXFactory.getPOSIX();
      RLimit limit = posix.getrlimit(RLIMIT.RLIMIT_FSIZE.intValue());
      return limit.rlimCur() < 0 ? Long.MAX_VALUE : limit.rlimCur();
    } catch (LinkageError | RuntimeException e) {
      // The library has no native half here.
      return -1;
    }
  }

  /**
   * The most bytes that a file may have, {@link Long#MAX_VALUE} where there is no limit, −1 when
   * the list does not say.
   *
   * @param limits as {@code /proc/PID/limits} is
   */
  static long fileBytesMaxOfList(Path limits) {
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
