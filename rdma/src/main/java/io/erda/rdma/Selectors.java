package io.erda.rdma;

import java.io.IOException;
import java.nio.channels.Selector;

/**
 * Wakes threads that sleep on a selector, closes selectors, and bounds the sleeps of such threads.
 * When the system call of a wake-up fails (a write to an eventfd), the JDK throws an {@link
 * InternalError}, which elsewhere means that a page of mapped memory is missing. In this case no
 * memory is missing, and the waking thread need not do anything: a thread that sleeps for at most
 * {@link #SLEEP_MS_MAX} at a time checks for work by itself.
 */
public final class Selectors {
  /** The longest sleep of a thread that others wake, after which it checks for a missed wake-up. */
  public static final long SLEEP_MS_MAX = 1_000;

  private static final long NS_PER_MS = 1_000_000;

  /** How often a wake-up is tried. */
  private static final int TRIES = 3;

  private Selectors() {}

  /** Returns the milliseconds of the next part of a sleep of {@code ns} nanoseconds; at least 1. */
  public static long sleepMs(long ns) {
    return Math.min((ns + NS_PER_MS - 1) / NS_PER_MS, SLEEP_MS_MAX);
  }

  /**
   * Ends the present or the next sleep on a selector. Any thread may call it.
   *
   * @return false when the system call fails
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
   * Closes a selector that is no longer used. When that fails, the selector's own descriptors are
   * left open until the process ends; those of closed channels are closed.
   *
   * @throws InternalError as {@link #wake} does
   */
  public static void close(Selector selector) {
    StackRoom.require(StackRoom.OF_CHANNEL);
    if (!selector.isOpen()) {
      return;
    }
    try {
      // The descriptors of closed channels are closed when the selector deregisters the channels.
      selector.selectNow();
    } catch (IOException e) {
      // Closing the selector deregisters them, too.
    }
    try {
      selector.close();
    } catch (IOException e) {
      // The error does not matter, because the selector is not used any more.
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
