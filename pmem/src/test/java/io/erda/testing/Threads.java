package io.erda.testing;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;

/** Threads of tests that tell how they ended. */
public final class Threads {
  /** The work of a thread; it may throw anything. */
  public interface Work {
    void run() throws Throwable;
  }

  private Threads() {}

  /** Starts a thread. The result is the exception of the work, or null. */
  public static FutureTask<Throwable> start(String name, Work work) {
    FutureTask<Throwable> task = new FutureTask<>(() -> thrownBy(work));
    new Thread(task, name).start();
    return task;
  }

  /**
   * Does the work in a separate thread. Returns the exception of the work, or null, when the thread
   * has ended.
   */
  public static Throwable run(String name, Work work) throws InterruptedException {
    Throwable[] thrown = new Throwable[1];
    Thread thread = new Thread(() -> thrown[0] = thrownBy(work), name);
    thread.start();
    thread.join();
    return thrown[0];
  }

  private static Throwable thrownBy(Work work) {
    try {
      work.run();
      return null;
    } catch (Throwable e) {
      return e;
    }
  }

  /** Waits; an interrupt, which no test of ours sends here, is an error. */
  public static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
