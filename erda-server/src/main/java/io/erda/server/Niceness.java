package io.erda.server;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * How far a thread steps back behind others that want a processor too: 0 not at all, {@link #MAX}
 * as far as there is. On Linux that is a thread's, not a process's, and a new thread has that of
 * the one that started it. Where the kernel refuses, work goes on as it was. Any thread may call.
 */
@SuppressWarnings("restricted")
public final class Niceness {
  public static final int MAX = 19;

  private static final int OF_THREAD = 0;
  private static final int CALLER = 0;

  private Niceness() {}

  /** Lets the calling thread step back as far as there is. */
  static void ofThisThread() {
    set(MAX);
  }

  /**
   * Does some work in a thread of its own, which steps back, and waits for its end. Threads that
   * the work starts step back too.
   *
   * @param nice how far, 0 to {@link #MAX}
   * @throws Exception what the work throws
   */
  public static <T> T call(int nice, Callable<T> work) throws Exception {
    FutureTask<T> task = new FutureTask<>(work);
    Thread thread =
        new Thread(
            () -> {
              set(nice);
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

  private static void set(int nice) {
    Linker linker = Linker.nativeLinker();
    MethodHandle setPriority =
        linker.downcallHandle(
            linker.defaultLookup().findOrThrow("setpriority"),
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT));
    try {
      int ignored = (int) setPriority.invokeExact(OF_THREAD, CALLER, nice);
    } catch (Error | RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }
}
