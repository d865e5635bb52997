package io.erda.pmem;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;

/**
 * Work with file channels by threads that may be interrupted. The JDK closes a channel whose thread
 * is interrupted, before or while it uses it, and fails the work. Opening a store or a connection
 * is short and has nothing to wait for, so here an interrupt does not end it: the work is done,
 * over again where the interrupt came in the middle of it, and the thread's interrupt status is set
 * afterwards.
 */
public final class Uninterrupted {
  /** Work that cleans up after itself when it fails, so that it can be done again. */
  public interface Work<T> {
    T run() throws IOException;
  }

  private Uninterrupted() {}

  /** Does the work, whether or not the thread is interrupted. */
  public static <T> T call(Work<T> work) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try {
          return work.run();
        } catch (ClosedByInterruptException e) {
          interrupted |= Thread.interrupted();
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
