package io.erda.pmem.libc;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * Lowers the priority of threads as far as possible, so that others get the processor first. On
 * Linux the niceness belongs to a thread, not to a process, and a new thread inherits it. When the
 * kernel refuses, work goes on unchanged. Any thread may call.
 */
public final class Niceness {
  private static final int NICE_MAX = 19;

  private Niceness() {}

  /**
   * Does some work in a separate thread with low priority, and waits for its end. Threads that the
   * work starts have low priority, too.
   *
   * @throws Exception the exception of the work
   */
  public static <T> T callAside(Callable<T> work) throws Exception {
    return callAside(Niceness::ofThisThread, work);
  }

  /**
   * As {@link #callAside(Callable)}.
   *
   * @param first is done in the thread before the work; an error of it is thrown here, too
   */
  static <T> T callAside(Runnable first, Callable<T> work) throws Exception {
    FutureTask<T> task =
        new FutureTask<>(() -> {
          first.run();
          return work.call();
        });
    Thread thread = new Thread(task, Thread.currentThread().getName());
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

  /** Lowers the priority of the calling thread. */
  public static void ofThisThread() {
    Libc.nice(NICE_MAX);
  }
}
