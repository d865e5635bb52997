package io.erda.server;

import io.erda.pmem.libc.Libc;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * Threads that step back, as far as there is, behind others that want a processor too. On Linux
 * that is a thread's, not a process's, and a new thread has that of the one that started it. Where
 * the kernel refuses, work goes on as it was. Any thread may call.
 */
public final class Niceness {
  private static final int NICE_MAX = 19;

  private Niceness() {}

  /**
   * Does some work in a thread of its own, which steps back, and waits for its end. Threads that
   * the work starts step back too.
   *
   * @throws Exception what the work throws
   */
  public static <T> T callAside(Callable<T> work) throws Exception {
    FutureTask<T> task = new FutureTask<>(work);
    Thread thread =
        new Thread(
            () -> {
              ofThisThread();
              task.run();
            },
            Thread.currentThread().getName());
    thread.start();
    try {
      return task.get();
    } catch (InterruptedException e) {
      thread.interrupt();
      throw e;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw (Error) e.getCause();
    }
  }

  /** Lets the calling thread step back. */
  static void ofThisThread() {
    Libc.nice(NICE_MAX);
  }
}
