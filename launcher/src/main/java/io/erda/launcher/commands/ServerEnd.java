package io.erda.launcher.commands;

import io.erda.launcher.watch.ServiceNotices;
import io.erda.launcher.watch.StandardErrorLog;
import io.erda.pmem.FileErrors;
import io.erda.protocol.JvmErrors;
import io.erda.server.ErdaServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import jdk.jfr.FlightRecorder;

/** Ends the process of a server, even while the server starts. */
final class ServerEnd {
  private static final long SAYING_MS_MAX = 5_000;
  private static final long RECORDING_END_NS_MAX = 10_000_000_000L;
  private static final long STARTING_S_MAX = 60;

  /**
   * Stands for a server that did not start: the thread that started it sets the exit code, and
   * reports why it failed.
   */
  static final int NOT_STARTED = -1;

  private final ServiceNotices notices;
  private final PrintWriter err;

  /** The server to end; null when its start failed, which another thread reports. */
  private final CompletableFuture<ErdaServer> started = new CompletableFuture<>();

  /** Whether a thread has undertaken to report why the server failed. */
  private final AtomicBoolean told = new AtomicBoolean();

  ServerEnd(ServiceNotices notices, PrintWriter err) {
    this.notices = notices;
    this.err = err;
  }

  /**
   * Starts the server. From the return on it can be ended; when the start fails, whatever the
   * reason, the process need not wait for a server before it ends.
   */
  ErdaServer starting(Supplier<ErdaServer> start) {
    ErdaServer server = null;
    try {
      server = start.get();
      return server;
    } finally {
      started.complete(server);
    }
  }

  /** Returns true once, to the thread that must then report why the server failed. */
  boolean isToBeTold() {
    return !told.getAndSet(true);
  }

  /** The line for a server that failed. */
  static String failed(Throwable failure) {
    String ofFiles = FileErrors.explain(failure);
    String explained = ofFiles == null ? JvmErrors.explain(failure) : ofFiles;
    String why = failure.getMessage() == null ? failure.toString() : failure.getMessage();
    boolean ours = failure.getClass().getName().startsWith("io.erda.");
    return "server failed: " + (explained == null || ours ? why : explained);
  }

  /**
   * A JVM that a signal ends exits with 128 + its number, unless the hook halts it with another
   * code: 0 after a clean end. A server that is starting is started first, and then ended: opening
   * a store is quick, and an interrupted opening makes the next one slower.
   */
  void onSignal() {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  int exitCode = 1;
                  try {
                    exitCode = endProcess();
                  } catch (Throwable e) {
                    err.println("erda: " + failed(e));
                  }
                  StandardErrorLog.end();
                  if (exitCode != NOT_STARTED) {
                    Runtime.getRuntime().halt(exitCode);
                  }
                },
                "end-server"));
  }

  /** Ends the server, if it has started. Returns the exit code, or {@link #NOT_STARTED}. */
  int endProcess() throws InterruptedException {
    ErdaServer server;
    try {
      server = started.get(STARTING_S_MAX, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      say(
          "was told to end and is still starting after %d s: ended as by a kill, which loses nothing"
              .formatted(STARTING_S_MAX));
      return 1;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
    if (server == null) {
      return NOT_STARTED;
    }
    boolean toBeTold = isToBeTold();
    notices.stopping();
    server.close();
    Throwable failure = server.await();
    if (failure != null && toBeTold) {
      say(failed(failure));
    }
    awaitEndOfRecordings();
    return failure == null ? 0 : 1;
  }

  /** Prints in another thread, because a pipe without a reader must not keep the process alive. */
  private void say(String text) {
    Thread writer = new Thread(() -> err.println("erda: " + text), "say-failed");
    writer.setDaemon(true);
    writer.start();
    try {
      writer.join(SAYING_MS_MAX);
    } catch (InterruptedException e) {
      // The hook's thread is never interrupted.
    }
  }

  /**
   * Waits for JFR, which stores and closes its recordings in its own hook at the same time; halt
   * would interrupt it.
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
   * Ends the process with its standard input, whose other end the starting process holds: when that
   * has ended in any way, this one ends.
   */
  void withStandardInput() {
    Thread thread =
        new Thread(
            () -> {
              try {
                while (System.in.read() >= 0) {}
              } catch (IOException e) {
                // A failed read counts as the end of the input, too.
              }
              ErdaServer server = started.join();
              if (server != null) {
                server.close();
              }
            },
            "standard-input");
    thread.setDaemon(true);
    thread.start();
  }
}
