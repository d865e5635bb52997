package io.erda.pmem;

import io.erda.pmem.libc.Errno;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;

/**
 * Repeats a system call that changes a name, where its error may be over a moment later: something
 * else is busy with the file, the kernel has no memory, or a path to the device was lost.
 */
final class Repeated {
  private static final int TRIES = 3;
  private static final long PAUSE_NS = 2_000_000;

  private Repeated() {}

  /**
   * Calls up to three times, with pauses of some milliseconds.
   *
   * @param call returns what the system call returned, or the negated errno
   * @return what the last call returned. When the last call found the file gone, an earlier one may
   *     have removed it although it failed, so the error of the first call is returned instead.
   */
  static int call(IntSupplier call) {
    int first = call.getAsInt();
    int result = first;
    for (int i = 1; i < TRIES && mayBeOver(result); i++) {
      LockSupport.parkNanos(PAUSE_NS);
      result = call.getAsInt();
    }
    return Errno.ENOENT.is(result) ? first : result;
  }

  private static boolean mayBeOver(int result) {
    return switch (Errno.ofResult(result)) {
      case EIO, EBUSY, EAGAIN, ENOMEM -> true;
      default -> false;
    };
  }
}
