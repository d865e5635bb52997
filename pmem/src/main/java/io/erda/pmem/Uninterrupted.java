package io.erda.pmem;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;

/**
 * Work with file channels by threads that may be interrupted. The JDK closes a channel whose thread
 * is interrupted, before or while it uses it, and fails the work. Opening a store or a connection
 * is short and waits for nothing, so an interrupt does not end it: this class does the work,
 * repeats it if the interrupt came in the middle, and sets the thread's interrupt status
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
