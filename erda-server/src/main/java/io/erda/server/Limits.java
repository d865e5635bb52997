package io.erda.server;

import jnr.constants.platform.RLIMIT;
import jnr.posix.POSIX;
import jnr.posix.POSIXFactory;
import jnr.posix.RLimit;

/**
 * What the kernel grants this process and its threads. Loaded late: the library takes its time to
 * start.
 */
final class Limits {
  private static final int PRIORITY_OF_THREAD = 0;
  private static final int NICE_MAX = 19;

  /**
   * What to add to an out-of-space message: the file-size limit where it is the reason, else
   * nothing.
   */
  static String explain(long fileBytes) {
    POSIX posix = POSIXFactory.getPOSIX();
    RLimit limit = posix.getrlimit(RLIMIT.RLIMIT_FSIZE.intValue());
    long soft = limit.rlimCur();
    return soft >= 0 && soft < fileBytes
        ? "; the file-size limit of this process (ulimit -f) is "
            + soft
            + " bytes, a file of the store takes "
            + fileBytes
        : "";
  }

  /**
   * Gives the calling thread the lowest priority there is: on Linux a priority is a thread's, and 0
   * means the caller.
   */
  static void yieldToAll() {
    POSIXFactory.getPOSIX().setpriority(PRIORITY_OF_THREAD, 0, NICE_MAX);
  }

  private Limits() {}
}
