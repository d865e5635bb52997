package io.erda.client.calls;

import io.erda.client.connections.Devices;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Whether it is worthwhile to wait for a thread while the JVM may be ending. A handler or a
 * dependent of a future may call {@link System#exit}, which does not return before all shutdown
 * hooks have ended; a hook that waited for that thread would keep the JVM from ending for ever. One
 * of these for each wait.
 */
public final class JvmEnd {
  /** How long a shutdown hook waits for a thread that does something else than to end the JVM. */
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
   * Whether a thread is expected to come back: always while the JVM does not end. When it does, the
   * thread must not be in {@link System#exit}, and this wait, since it was seen first that the JVM
   * ends, not have lasted for {@link #PATIENCE_NS}.
   *
   * @param thread null: nobody is known
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

  /** Whether a thread has asked the JVM to end; then it never comes back. */
  static boolean isInExit(Thread thread) {
    for (StackTraceElement each : thread.getStackTrace()) {
      if (each.getClassName().equals("java.lang.Runtime") && each.getMethodName().equals("exit")) {
        return true;
      }
    }
    return false;
  }

  /** Whether shutdown hooks run: from then on the JVM takes none away, and says so. */
  private static boolean isEnding() {
    try {
      Runtime.getRuntime().removeShutdownHook(NO_HOOK);
      return false;
    } catch (IllegalStateException e) {
      return true;
    }
  }

  /** It was never added. */
  private static final Thread NO_HOOK = Thread.ofPlatform().unstarted(() -> {});
}
