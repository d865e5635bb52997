package io.erda.server;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import jnr.constants.platform.RLIMIT;
import jnr.posix.POSIX;
import jnr.posix.POSIXFactory;
import jnr.posix.RLimit;

/**
 * What the kernel grants this process and its threads. jnr-posix is asked only to explain an error:
 * it unpacks a library into the directory for temporary files, which may not be there, and takes
 * its time.
 */
@SuppressWarnings("restricted")
final class ProcessLimits {
  private static final int PRIORITY_OF_THREAD = 0;
  private static final int NICE_MAX = 19;

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

  /**
   * Gives the calling thread the lowest priority there is: on Linux a priority is a thread's, and 0
   * means the caller. Returns false where the kernel refuses.
   */
  static boolean yieldToAll() {
    Linker linker = Linker.nativeLinker();
    MethodHandle setPriority =
        linker.downcallHandle(
            linker.defaultLookup().findOrThrow("setpriority"),
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT));
    try {
      return (int) setPriority.invokeExact(PRIORITY_OF_THREAD, 0, NICE_MAX) == 0;
    } catch (Error | RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  private ProcessLimits() {}
}
