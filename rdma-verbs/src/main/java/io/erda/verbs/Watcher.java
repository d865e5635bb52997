package io.erda.verbs;

import io.erda.verbs.ffm.Waiter;
import java.io.IOException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * A thread that wakes the device's thread, which sleeps on another device, when hardware has
 * events. It takes no event: it rings, and looks again when the device's thread has answered.
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
   * @param onFailure gets the error that ended the thread
   * @param fds readable when hardware has events; the caller keeps owning them
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
          // After the flag: the thread that takes the events sees the flag, and at worst is woken
          // once more.
          wakeup.run();
        }
      }
    } catch (Throwable e) {
      // Nothing would wake the device's thread any more.
      onFailure.accept(e);
    }
  }

  /** Whether there may be events; then take them all, and {@link #answered}. */
  boolean isRung() {
    return rung;
  }

  /** Lets the watcher ring again. */
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
