package io.erda.client.calls;

import io.erda.client.connections.Devices;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Decides whether a thread is worth waiting for while the JVM may be ending. A handler or a
 * dependent of a future may call {@link System#exit}, which does not return before all shutdown
 * hooks have ended; a hook that waited for that thread would keep the JVM from ending for ever.
 * Each wait needs its own object.
 */
public final class JvmEnd {
  /** How long a shutdown hook waits for a thread that is not in {@link System#exit}. */
  static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(5);

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
   * Whether a thread is expected to come back: always while the JVM does not end. While it ends,
   * the thread must not be in {@link System#exit}, and {@link #PATIENCE_NS} must not have passed
   * since this object first saw the JVM ending.
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

  /** Whether a thread is in {@link System#exit}; then it never comes back. */
  static boolean isInExit(Thread thread) {
    for (StackTraceElement each : thread.getStackTrace()) {
      if (each.getClassName().equals("java.lang.Runtime") && each.getMethodName().equals("exit")) {
        return true;
      }
    }
    return false;
  }

  /** Whether shutdown hooks run: then the JVM refuses to remove a hook. */
  private static boolean isEnding() {
    try {
      Runtime.getRuntime().removeShutdownHook(NO_HOOK);
      return false;
    } catch (IllegalStateException e) {
      return true;
    }
  }

  /** A hook that was never added: trying to remove it shows whether the JVM is ending. */
  private static final Thread NO_HOOK = Thread.ofPlatform().unstarted(() -> {});
}
