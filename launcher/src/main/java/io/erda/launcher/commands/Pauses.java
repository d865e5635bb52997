package io.erda.launcher.commands;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Limits a thread to a share of a processor: after each short stretch of work it sleeps as long as
 * the share requires.
 *
 * <p>A low priority is not enough when the store is in use. Its server and its clients yield while
 * they wait for each other, and a yield to a thread that never sleeps costs them the rest of a time
 * slice, whatever that thread's priority. One thread.
 */
final class Pauses {
  static final int PERCENT_MAX = 100;

  /**
   * The length of a stretch of work. A server or a client that waits for the processor during it is
   * late by a few dozen puts at most.
   */
  private static final long STRETCH_NS = 100_000;

  /**
   * The longest time that counts as work of a stretch. A longer one was interrupted by other
   * threads, whose time needs no pause here.
   */
  private static final long WORKED_NS_MAX = 1_000_000;

  /** Pieces of work between two reads of the clock. */
  private static final int PIECES_A_LOOK = 16;

  private final LongSupplier nanoTime;
  private final LongConsumer sleepNs;
  private final int percent;
  private long stretchBeganNs;
  private int pieces;

  /**
   * @param percent the share, 1 to {@link #PERCENT_MAX}, which never sleeps
   */
  Pauses(int percent) {
    this(percent, System::nanoTime, LockSupport::parkNanos);
  }

  Pauses(int percent, LongSupplier nanoTime, LongConsumer sleepNs) {
    this.percent = percent;
    this.nanoTime = nanoTime;
    this.sleepNs = sleepNs;
    this.stretchBeganNs = nanoTime.getAsLong();
  }

  /** Called between two pieces of work of some microseconds each; sleeps when it is time. */
  void between() {
    if (percent == PERCENT_MAX || ++pieces < PIECES_A_LOOK) {
      return;
    }
    pieces = 0;
    long workedNs = nanoTime.getAsLong() - stretchBeganNs;
    if (workedNs >= STRETCH_NS) {
      sleepNs.accept(Math.min(workedNs, WORKED_NS_MAX) * (PERCENT_MAX - percent) / percent);
      stretchBeganNs = nanoTime.getAsLong();
    }
  }
}
