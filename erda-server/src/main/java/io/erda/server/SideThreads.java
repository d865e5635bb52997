package io.erda.server;

import java.util.concurrent.locks.LockSupport;

/** Starts and joins the server's other threads, which park while they have no work. */
final class SideThreads {
  private SideThreads() {}

  /**
   * Starts a thread.
   *
   * @param failures receives the error that ends the thread before it was told to end
   */
  static Thread start(Runnable work, String name, Failures failures) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (Throwable e) {
                failures.ended(name, e);
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /**
   * Waits for a thread that was told to end. An interrupt does not end the wait, and stays pending.
   */
  static void join(Thread thread) {
    joinWithin(thread, 0);
  }

  /**
   * As {@link #join}, for a limited time, which begins anew with an interrupt. Returns whether the
   * thread has ended.
   *
   * @param ms 0: without a limit
   */
  static boolean joinWithin(Thread thread, long ms) {
    LockSupport.unpark(thread);
    boolean interrupted = false;
    boolean over = false;
    while (!over) {
      try {
        thread.join(ms);
        over = true;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return !thread.isAlive();
  }
}
