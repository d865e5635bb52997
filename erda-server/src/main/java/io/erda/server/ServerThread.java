package io.erda.server;

import io.erda.cleaner.CleanerOptions;
import io.erda.protocol.ErdaException;
import io.erda.rdma.Poller;
import io.erda.server.engine.Limits;
import io.erda.server.engine.ServerCore;
import io.erda.server.engine.ServiceOptions;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/**
 * The thread that drives a {@link ServerCore}: polls as long as the poller allows, then sleeps on
 * its devices. Owns all it is given.
 */
final class ServerThread implements AutoCloseable {
  private final ServerCore core;
  private final Steps steps;
  private final ServedDevices devices;
  private final OpenedStore store;
  private final FileThreads files;
  private final DirectoryWatch watch;

  /** Null where nobody waits for a device. */
  private final SyncThreads syncs;

  /** Null where nobody reads one. */
  private final ServerLog log;

  private final Poller poller;
  private final AskedFigures askedFigures = new AskedFigures();
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile boolean closing;
  private volatile Throwable failure;

  // Guarded by this.

  private String readOnlyReason;
  private Consumer<String> readOnlyListener = reason -> {};

  private ServerThread(
      ServerCore core,
      Steps steps,
      ServedDevices devices,
      OpenedStore store,
      ServerOptions options,
      ServerLog log) {
    this.log = log;
    this.core = core;
    this.steps = steps;
    this.devices = devices;
    this.store = store;
    this.files = new FileThreads(store.engine().log().geometry().heads());
    this.syncs = store.engine().waitsForDevice() ? new SyncThreads(devices::wakeup) : null;
    core.fileWork(files);
    this.watch = new DirectoryWatch(store.place(), devices::wakeup);
    core.whereabouts(watch::loss);
    if (syncs != null) {
      core.syncs(syncs);
    }
    core.figure("pages.failures", files::failures);
    addFigures(core, store);
    core.onReadOnly(this::becameReadOnly);
    this.poller = new Poller(System::nanoTime, Poller.DEFAULT_SPIN_NS, options.pollingNs());
  }

  private static void addFigures(ServerCore core, OpenedStore store) {
    long startedNs = System.nanoTime();
    Runtime runtime = Runtime.getRuntime();
    core.figure("server.uptime.ns", () -> System.nanoTime() - startedNs);
    core.figure("server.pid", ProcessHandle.current()::pid);
    core.figure("server.heap.bytes", () -> runtime.totalMemory() - runtime.freeMemory());
    core.text("server.version", ErdaVersion.ofBuild());
    store.addFigures(core);
  }

  /**
   * Starts it.
   *
   * @param steps of the core
   * @param log where it is said that the store became read-only and that the server ended; null:
   *     nowhere. Closed at the end
   * @param daemon whether the JVM may end while it runs, which is to the store as a kill
   */
  static ServerThread start(
      ServerCore core,
      Steps steps,
      ServedDevices devices,
      OpenedStore store,
      ServerOptions options,
      ServerLog log,
      boolean daemon) {
    ServerThread server = new ServerThread(core, steps, devices, store, options, log);
    core.prepareFigures();
    Thread thread = new Thread(server::run, "erda-server");
    thread.setDaemon(daemon);
    thread.start();
    return server;
  }

  static ServiceOptions serviceOptions(ServerOptions options) {
    ServiceOptions defaults = ServiceOptions.DEFAULT;
    return new ServiceOptions(
        options.connectionsMax(),
        defaults.reservationIdleNs(),
        defaults.extentBytesMax(),
        options.pollingNs(),
        options.cleaning()
            ? defaults.cleaning().withLivePercent(options.livePercent())
            : CleanerOptions.NEVER,
        limits(options));
  }

  private static Limits limits(ServerOptions options) {
    Quotas quotas = options.quotas();
    Limits usual = Limits.of(options.connectionsMax());
    return new Limits(
        quotas.connectionsPerUser() == 0 ? usual.connectionsPerUser() : quotas.connectionsPerUser(),
        quotas.leasedBytesPerClient() == 0
            ? usual.leasedBytesPerClient()
            : quotas.leasedBytesPerClient(),
        quotas.leasedBytesPerUser(),
        quotas.operationsPerClient() == 0
            ? usual.operationsPerClient()
            : quotas.operationsPerClient(),
        quotas.operationsPerUser() == 0 ? usual.operationsPerUser() : quotas.operationsPerUser());
  }

  /** Waits until the server has ended. Returns why it failed, or null when it was closed. */
  Throwable await() throws InterruptedException {
    ended.await();
    return failure;
  }

  /**
   * All figures of the server now, by name. Any thread may ask.
   *
   * @throws ErdaException.Unavailable when the server has ended, or does not answer in time
   */
  Map<String, Long> figures(Duration timeout) throws InterruptedException {
    return askedFigures.ask(timeout, devices::wakeup);
  }

  private void becameReadOnly(String reason) {
    if (log != null) {
      log.say(
          Level.ERROR,
          "the store is read-only now, gets go on: "
              + reason
              + "; when that is mended, start the server again");
    }
    Consumer<String> told;
    synchronized (this) {
      readOnlyReason = reason;
      told = readOnlyListener;
    }
    told.accept(reason);
  }

  /** Sets who is told, once, why the store takes no more puts; at once where it takes none. */
  void onReadOnly(Consumer<String> listener) {
    String reason;
    synchronized (this) {
      readOnlyListener = listener;
      reason = readOnlyReason;
    }
    if (reason != null) {
      listener.accept(reason);
    }
  }

  @Override
  public void close() {
    closing = true;
    devices.wakeup();
    boolean interrupted = false;
    while (ended.getCount() > 0) {
      try {
        ended.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      poller.onShared(new OtherCore()::take);
      serve();
    } catch (Throwable e) {
      failure = e;
    }
    askedFigures.end();
    try {
      steps.end();
    } catch (Throwable e) {
      failure = failure == null ? e : failure;
    }
    files.close();
    watch.close();
    try (devices;
        store) {
      if (failure == null) {
        core.finishPublishing();
      }
      devices.closeOthers();
      if (devices.readsOutlivePeer()) {
        core.leave();
      } else {
        core.close();
      }
    } catch (Throwable e) {
      failure = failure == null ? e : failure;
    } finally {
      if (syncs != null) {
        syncs.close();
      }
    }
    if (watch.loss() != null) {
      failure = lost(watch.loss(), failure);
    }
    if (log != null) {
      log.say(
          failure == null ? Level.INFO : Level.ERROR,
          failure == null ? "ended" : "ended because it failed: " + failure);
      log.close();
    }
    ended.countDown();
  }

  /** Says of a server that it ends without the name of its store, whatever else failed for that. */
  private static Throwable lost(String loss, Throwable failure) {
    ErdaException.ReadOnly lost = new ErdaException.ReadOnly(loss);
    if (failure != null) {
      lost.addSuppressed(failure);
    }
    return lost;
  }

  private void serve() {
    while (!closing) {
      if (askedFigures.any()) {
        askedFigures.answer(steps::figures);
      }
      if (poller.mayPoll(steps.doWork())) {
        continue;
      }
      long sleepNs = steps.arm();
      if (sleepNs > 0 && !closing && !askedFigures.any() && devices.await(sleepNs)) {
        poller.woken();
      } else {
        poller.reset();
      }
    }
  }
}
