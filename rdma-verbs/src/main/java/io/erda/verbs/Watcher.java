package io.erda.verbs;

import io.erda.verbs.ffm.Waiter;
import java.io.IOException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * A thread that wakes the device's thread, which sleeps on another device, when the hardware has
 * events. It takes no event itself. After it has woken the device's thread, it waits for that
 * thread's answer before it checks again.
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
   * Starts the thread.
   *
   * @param onFailure receives the error that ends the thread
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
          // This follows the store of the flag, so that the thread that takes the events sees the
          // flag; at worst it is woken once more.
          wakeup.run();
        }
      }
    } catch (Throwable e) {
      // Without this thread nothing would wake the device's thread any more.
      onFailure.accept(e);
    }
  }

  /** Whether there may be events. If so, take all of them, and call {@link #answered}. */
  boolean isRung() {
    return rung;
  }

  /** Lets the watcher check for events again. */
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
