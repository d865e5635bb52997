package io.erda.rdma;

import java.io.IOException;
import java.nio.channels.Selector;

/**
 * Wakes threads that sleep on a selector, closes selectors, and says how long such a thread may
 * sleep. Where the system call that wakes it fails (a write to an eventfd), the JDK throws an
 * {@link InternalError}, which elsewhere means that a page of mapped memory is missing. Memory is
 * sound then, and the waker need not act: a sleeper that sleeps no longer than {@link
 * #SLEEP_MS_MAX} at a time looks by itself.
 */
public final class Selectors {
  /** How long a thread that others wake may sleep before it looks for a missed wake-up. */
  public static final long SLEEP_MS_MAX = 1_000;

  private static final long NS_PER_MS = 1_000_000;

  /** How often a wake-up is tried. */
  private static final int TRIES = 3;

  private Selectors() {}

  /** How many milliseconds of a sleep of some nanoseconds may be slept at once; at least 1. */
  public static long sleepMs(long ns) {
    return Math.min((ns + NS_PER_MS - 1) / NS_PER_MS, SLEEP_MS_MAX);
  }

  /**
   * Ends the present or the next sleep on a selector. From any thread.
   *
   * @return false where the system call fails
   * @throws InternalError when an earlier load or store of this thread met a missing page
   */
  public static boolean wake(Selector selector) {
    for (int i = 0; i < TRIES; i++) {
      try {
        selector.wakeup();
        return true;
      } catch (InternalError e) {
        requireOfSelector(e);
      }
    }
    return false;
  }

  /**
   * Closes a selector that nobody uses any more. Where that fails, its own descriptors are left
   * behind until the process ends; those of closed channels are closed.
   *
   * @throws InternalError as {@link #wake} does
   */
  public static void close(Selector selector) {
    try {
      // Closed channels are really closed when the selector lets go of them.
      selector.selectNow();
    } catch (IOException e) {
      // Closing the selector lets go of them, too.
    }
    try {
      selector.close();
    } catch (IOException e) {
      // The selector is not used any more.
    } catch (InternalError e) {
      requireOfSelector(e);
    }
  }

  private static void requireOfSelector(InternalError e) {
    if (!(e.getCause() instanceof IOException)) {
      throw e;
    }
  }
}
