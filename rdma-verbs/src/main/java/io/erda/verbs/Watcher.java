package io.erda.verbs;

import io.erda.verbs.ffm.Waiter;
import java.io.IOException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * A thread that wakes the device's, which sleeps elsewhere, when hardware has something to say. It
 * takes no event: it rings, and looks again when the device's thread has answered.
 */
final class Watcher implements AutoCloseable {
  private static final long LOOK_NS = 60_000_000_000L;

  private final Waiter waiter;
  private final Runnable wakeup;
  private final Consumer<Throwable> onFailure;
  private final Thread thread;
  private volatile boolean rung;
  private volatile boolean closed;

  /**
   * Starts it.
   *
   * @param onFailure is told what ended the thread before it was closed
   * @param fds what hardware can be heard by; they stay the caller's
   */
  Watcher(Runnable wakeup, Consumer<Throwable> onFailure, int... fds) throws IOException {
    this.onFailure = onFailure;
    this.waiter = new Waiter(fds);
    this.wakeup = wakeup;
    this.thread = new Thread(this::run, "erda-verbs-watcher");
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    try {
      while (!closed) {
        if (rung) {
          LockSupport.park(this);
        } else if (waiter.await(LOOK_NS)) {
          rung = true;
          // After the flag: who takes the events sees it, and is woken once more at worst.
          wakeup.run();
        }
      }
    } catch (Throwable e) {
      // Nothing would wake the device's thread any more when hardware has something to say.
      onFailure.accept(e);
    }
  }

  /** Whether there may be events; then take them all, and {@link #answered}. */
  boolean isRung() {
    return rung;
  }

  /** From now on it rings again. */
  void answered() {
    rung = false;
    LockSupport.unpark(thread);
  }

  @Override
  public void close() {
    closed = true;
    waiter.wakeup();
    LockSupport.unpark(thread);
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    waiter.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
