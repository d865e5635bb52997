package io.erda.launcher.commands;

import io.erda.launcher.watch.ServiceNotices;
import io.erda.server.ErdaServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.FlightRecorder;

/** How the process of a server ends. */
final class ServerEnd {
  private static final long SAYING_MS_MAX = 5_000;
  private static final long RECORDING_END_NS_MAX = 10_000_000_000L;

  private final ErdaServer server;
  private final ServiceNotices notices;
  private final PrintWriter err;

  /** Whether somebody has taken it upon himself to say why the server failed. */
  private final AtomicBoolean told = new AtomicBoolean();

  ServerEnd(ErdaServer server, ServiceNotices notices, PrintWriter err) {
    this.server = server;
    this.notices = notices;
    this.err = err;
  }

  /** Returns true once, to whoever then says why the server failed. */
  boolean isToBeTold() {
    return !told.getAndSet(true);
  }

  /** What is said of a server that failed. */
  static String failed(Throwable failure) {
    return "server failed: "
        + (failure.getMessage() == null ? failure.toString() : failure.getMessage());
  }

  /**
   * A JVM that a signal ends exits with 128 + its number, unless the hook says otherwise: a clean
   * end is a success, and one that fails is none.
   */
  void onSignal() {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  boolean toBeTold = isToBeTold();
                  notices.stopping();
                  Throwable failure = end();
                  if (failure != null && toBeTold) {
                    sayFailed(failure);
                  }
                  awaitEndOfRecordings();
                  Runtime.getRuntime().halt(failure == null ? 0 : 1);
                },
                "end-server"));
  }

  /** Returns why the server failed, before it was to end or in its end, or null. */
  private Throwable end() {
    server.close();
    try {
      return server.await();
    } catch (InterruptedException e) {
      // Nobody interrupts the hook.
      return e;
    }
  }

  /** A pipe that nobody empties must not keep the process. */
  private void sayFailed(Throwable failure) {
    Thread writer = new Thread(() -> err.println("erda: " + failed(failure)), "say-failed");
    writer.setDaemon(true);
    writer.start();
    try {
      writer.join(SAYING_MS_MAX);
    } catch (InterruptedException e) {
      // Nobody interrupts the hook.
    }
  }

  /**
   * JFR stores and closes its recordings in a hook of its own, at the same time as this one, and
   * halt would cut it short.
   */
  private static void awaitEndOfRecordings() {
    if (!FlightRecorder.isInitialized()) {
      return;
    }
    long endNs = System.nanoTime() + RECORDING_END_NS_MAX;
    while (!FlightRecorder.getFlightRecorder().getRecordings().isEmpty()
        && System.nanoTime() - endNs < 0) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  /**
   * Who started us holds the other end of standard input: when it is gone, however that came, so
   * are we.
   */
  void withStandardInput() {
    Thread thread =
        new Thread(
            () -> {
              try {
                while (System.in.read() >= 0) {}
              } catch (IOException e) {
                // An end like any other.
              }
              server.close();
            },
            "standard-input");
    thread.setDaemon(true);
    thread.start();
  }
}
