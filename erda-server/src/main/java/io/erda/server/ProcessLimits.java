package io.erda.server;

import jnr.constants.platform.RLIMIT;
import jnr.posix.POSIX;
import jnr.posix.POSIXFactory;
import jnr.posix.RLimit;

/**
 * What the kernel grants this process. jnr-posix is asked only to explain an error: it unpacks a
 * library into the directory for temporary files, which may not be there, and takes its time.
 */
final class ProcessLimits {
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
    try {
      POSIX posix = POSIXFactory.getPOSIX();
      RLimit limit = posix.getrlimit(RLIMIT.RLIMIT_FSIZE.intValue());
      return limit.rlimCur();
    } catch (LinkageError | RuntimeException e) {
      // The library has no native half here.
      return -1;
    }
  }

  private ProcessLimits() {}
}
