package io.erda.server;

import java.util.concurrent.locks.LockSupport;

/** Threads beside the server's, which park while there is nothing to do. */
final class SideThreads {
  private SideThreads() {}

  /**
   * Starts a thread.
   *
   * @param failures is told the error that ends it before it was told to end
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

  /** Waits for a thread that was told to end. An interrupt stays pending meanwhile. */
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
