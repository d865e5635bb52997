package io.erda.server;

import jnr.constants.platform.RLIMIT;
import jnr.posix.POSIX;
import jnr.posix.POSIXFactory;
import jnr.posix.RLimit;

/** Limits of this process that explain why a file can't grow. Loaded only when that happened: the library takes its time to start. */
final class Limits {
  /** What to add to an out-of-space message: the file-size limit where it is the reason, else nothing. */
  static String explain(long fileBytes) {
    POSIX posix = POSIXFactory.getPOSIX();
    RLimit limit = posix.getrlimit(RLIMIT.RLIMIT_FSIZE.intValue());
    long soft = limit.rlimCur();
    return soft >= 0 && soft < fileBytes
        ? "; the file-size limit of this process (ulimit -f) is " + soft + " bytes, a file of the store takes " + fileBytes
        : "";
  }

  private Limits() {}
}
