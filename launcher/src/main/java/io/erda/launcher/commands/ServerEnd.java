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
import jdk.jfr.FlightRecorder;

/** How the process of a server ends, also while the server starts. */
final class ServerEnd {
  private static final long SAYING_MS_MAX = 5_000;
  private static final long RECORDING_END_NS_MAX = 10_000_000_000L;
  private static final long STARTING_S_MAX = 60;

  /** The process ends with the exit code of whoever started the server, and tells why it failed. */
  private static final int NOT_STARTED = -1;

  private final ServiceNotices notices;
  private final PrintWriter err;

  /** The server that is to be ended; null where its start failed, of which another thread tells. */
  private final CompletableFuture<ErdaServer> started = new CompletableFuture<>();

  /** Whether somebody has taken it upon himself to say why the server failed. */
  private final AtomicBoolean told = new AtomicBoolean();

  ServerEnd(ServiceNotices notices, PrintWriter err) {
    this.notices = notices;
    this.err = err;
  }

  /** The server is there, and is ended from now on. */
  void started(ErdaServer server) {
    started.complete(server);
  }

  /** There will be no server. */
  void failedToStart() {
    started.complete(null);
  }

  /** Returns true once, to whoever then says why the server failed. */
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
   * A JVM that a signal ends exits with 128 + its number, unless the hook says otherwise: a clean
   * end is a success, and one that fails is none. A server that is starting starts, and is ended
   * then: to open a store takes moments, and an opening that is cut off costs the next one more.
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

  private int endProcess() throws InterruptedException {
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

  /** A pipe that nobody empties must not keep the process. */
  private void say(String text) {
    Thread writer = new Thread(() -> err.println("erda: " + text), "say-failed");
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
