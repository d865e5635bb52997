package io.erda.client.calls;

import io.erda.client.connections.Devices;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

/**
 * Decides whether to wait for a thread while the JVM may be ending. A handler or a dependent of a
 * future may call {@link System#exit}, which does not return before all shutdown hooks have ended;
 * a hook that waited for that thread would keep the JVM from ending for ever. Use a new object for
 * each wait.
 */
public final class JvmEnd {
  /** How long a shutdown hook waits for a thread that is not in {@link System#exit}. */
  static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(5);

  /** How often a waiting thread checks the other one. */
  private static final long LOOK_MS = 20;

  private final LongSupplier nanoTime;
  private boolean ends;
  private long sinceNs;

  public JvmEnd() {
    this(Devices.CLOCK);
  }

  public JvmEnd(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /**
   * Runs work that calls handlers. While the JVM ends, another thread does it: a handler that calls
   * {@link System#exit} never returns, and then this method returns without it. Throws what the
   * work throws.
   */
  public static void callingHandlers(Runnable work) {
    if (!isEnding()) {
      work.run();
      return;
    }
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread thread =
        Thread.ofPlatform()
            .daemon()
            .name("erda-closing")
            .unstarted(() -> {
              try {
                work.run();
              } catch (Throwable e) {
                thrown.set(e);
              }
            });
    thread.start();
    new JvmEnd().awaitEnd(thread);
    switch (thrown.get()) {
      case RuntimeException unchecked -> throw unchecked;
      case Error error -> throw error;
      case null, default -> {
        // The work throws no checked exception.
      }
    }
  }

  private void awaitEnd(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive() && comesBack(thread)) {
      try {
        thread.join(LOOK_MS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Whether a thread is expected to leave its call. This is always true while the JVM does not end.
   * While the JVM ends, it is true if the thread is not in {@link System#exit}, and {@link
   * #PATIENCE_NS} have not passed since this object first noticed the end of the JVM.
   *
   * @param thread null when the thread is unknown
   */
  public boolean comesBack(Thread thread) {
    return !isEnding() || comesBackInTime(thread);
  }

  private boolean comesBackInTime(Thread thread) {
    long now = nanoTime.getAsLong();
    if (!ends) {
      ends = true;
      sinceNs = now;
    }
    return now - sinceNs < PATIENCE_NS && (thread == null || !isInExit(thread));
  }

  /** Whether a thread is in {@link System#exit}, from which it never returns. */
  static boolean isInExit(Thread thread) {
    for (StackTraceElement each : thread.getStackTrace()) {
      if (each.getClassName().equals("java.lang.Runtime") && each.getMethodName().equals("exit")) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether the JVM is running shutdown hooks. Tries to remove a hook, which the JVM refuses then.
   */
  private static boolean isEnding() {
    try {
      Runtime.getRuntime().removeShutdownHook(NO_HOOK);
      return false;
    } catch (IllegalStateException e) {
      return true;
    }
  }

  /**
   * A thread that was never added as a hook. The attempt to remove it shows whether the JVM is
   * ending.
   */
  private static final Thread NO_HOOK = Thread.ofPlatform().unstarted(() -> {});
}
