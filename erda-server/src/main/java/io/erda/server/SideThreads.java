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
    LockSupport.unpark(thread);
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
