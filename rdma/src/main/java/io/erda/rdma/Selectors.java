package io.erda.rdma;

import java.io.IOException;
import java.nio.channels.Selector;

/**
 * Wakes threads that sleep on a selector, closes selectors, and says how long such a thread may
 * sleep. Where the system call fails that is to wake it (a write to an eventfd), the JDK throws an
 * {@link InternalError}, which elsewhere says that a page of mapped memory is not there. Nothing is
 * wrong with anybody's memory then, and whoever wakes has nothing to mend: a sleeper whose sleeps
 * last no longer than {@link #SLEEP_MS_MAX} looks by itself.
 */
public final class Selectors {
  /** How long a thread that others wake may sleep before it looks whether somebody meant to. */
  public static final long SLEEP_MS_MAX = 1_000;

  private static final long NS_PER_MS = 1_000_000;

  /** How often a wake-up is tried. */
  private static final int TRIES = 3;

  private Selectors() {}

  /** Of a sleep of some nanoseconds, at least 1, the milliseconds that may be slept at once. */
  public static long sleepMs(long ns) {
    return Math.min((ns + NS_PER_MS - 1) / NS_PER_MS, SLEEP_MS_MAX);
  }

  /**
   * Wakes whoever sleeps on a selector, now or the next time. From any thread.
   *
   * @return false where the system call fails
   * @throws InternalError when a page is gone that this thread loaded from or stored to before
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
   * Closes a selector that nobody uses any more. Where that fails, its descriptors are left behind
   * until the process ends, and those of closed channels are not.
   *
   * @throws InternalError as {@link #wake} does
   */
  public static void close(Selector selector) {
    try {
      // Closed channels are really closed when it lets go of them.
      selector.selectNow();
    } catch (IOException e) {
      // Closing lets go of them, too.
    }
    try {
      selector.close();
    } catch (IOException e) {
      // Nothing of it is used any more.
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
