package io.erda.client.calls;

import io.erda.client.connections.ReadingDevices;
import io.erda.rdma.Device;
import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.util.function.Predicate;

/**
 * Releases an object that an application forgot to close, once the garbage collector finds it
 * unreachable, and logs where it was opened. Costs nothing between opening and closing.
 */
public final class Forgotten implements Runnable {
  /** The logger's name, by which applications can configure these warnings. */
  public static final String LOGGER = "io.erda.client";

  private static final Cleaner CLEANER = Cleaner.create();

  private final String what;
  private final String opened;
  private final Runnable release;
  private Cleaner.Cleanable cleanable;
  private volatile boolean closed;

  private Forgotten(String what, Runnable release) {
    this.what = what;
    this.release = release;
    opened = callersPlace() + " by " + Confinement.name(Thread.currentThread());
  }

  /**
   * Watches over an object that was opened.
   *
   * @param user an object that is reachable as long as the opened object may be used, including
   *     calls under way
   * @param what a description of the object for the warning
   * @param release releases the object; called in a separate thread. Must not refer to {@code user}
   */
  public static Forgotten watch(Object user, String what, Runnable release) {
    Forgotten watching = new Forgotten(what, release);
    watching.cleanable = CLEANER.register(user, watching);
    return watching;
  }

  /**
   * Returns a task that releases the devices of a client.
   *
   * @param owned the device that the client was opened over
   * @param reading null when the client never reads files itself
   */
  public static Runnable releasing(Device owned, ReadingDevices reading) {
    return () -> {
      try {
        owned.close();
      } finally {
        if (reading != null) {
          reading.close();
        }
      }
    };
  }

  /** Notes that the application has closed the object. Idempotent. */
  public void closed() {
    closed = true;
    cleanable.clean();
  }

  @Override
  public void run() {
    if (closed) {
      return;
    }
    System.Logger log = System.getLogger(LOGGER);
    try {
      log.log(
          Level.WARNING,
          what + ", opened at " + opened + ", was forgotten without close(): it is closed now");
    } finally {
      // The application's handler of the log may throw, and there may be no memory for the line.
      release(log);
    }
  }

  private void release(System.Logger log) {
    try {
      release.run();
    } catch (RuntimeException e) {
      log.log(Level.WARNING, what + ", opened at " + opened + ", could not be closed", e);
    }
  }

  /**
   * Returns the place of the application's call: the newest frame of the stack that is neither
   * Erda's nor the JDK's.
   */
  private static String callersPlace() {
    Predicate<String> between =
        name ->
            name.startsWith("io.erda.client.")
                || name.startsWith("io.erda.server.ErdaStore")
                || name.startsWith("java.");
    return StackWalker.getInstance()
        .walk(frames ->
            frames
                .filter(frame -> !between.test(frame.getClassName()))
                .findFirst()
                .map(frame -> frame.toStackTraceElement().toString())
                .orElse("an unknown place"));
  }
}
