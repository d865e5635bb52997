package io.erda.server;

import io.erda.cleaner.CleanerOptions;
import io.erda.rdma.Poller;
import io.erda.server.engine.ServerCore;
import io.erda.server.engine.ServiceOptions;
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

  /** Null where nobody waits for a device. */
  private final SyncThread syncs;

  private final Poller poller;
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
      ServerOptions options) {
    this.core = core;
    this.steps = steps;
    this.devices = devices;
    this.store = store;
    this.files = new FileThreads(store.engine().log().geometry().heads());
    this.syncs = store.engine().waitsForDevice() ? new SyncThread(devices::wakeup) : null;
    core.fileWork(files);
    if (syncs != null) {
      core.syncs(syncs);
    }
    core.figure("pages.failures", files::failures);
    core.onReadOnly(this::becameReadOnly);
    this.poller = new Poller(System::nanoTime, Poller.DEFAULT_SPIN_NS, options.pollingNs());
  }

  /**
   * Starts it.
   *
   * @param steps of the core
   * @param daemon whether the JVM may end while it runs, which is to the store as a kill
   */
  static ServerThread start(
      ServerCore core,
      Steps steps,
      ServedDevices devices,
      OpenedStore store,
      ServerOptions options,
      boolean daemon) {
    core.prepareFigures();
    ServerThread server = new ServerThread(core, steps, devices, store, options);
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
            : CleanerOptions.NEVER);
  }

  /** Waits until the server has ended. Returns why it failed, or null when it was closed. */
  Throwable await() throws InterruptedException {
    ended.await();
    return failure;
  }

  private void becameReadOnly(String reason) {
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
      serve();
    } catch (Throwable e) {
      failure = e;
    }
    steps.end();
    files.close();
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
    ended.countDown();
  }

  private void serve() {
    while (!closing) {
      if (poller.mayPoll(steps.doWork())) {
        continue;
      }
      long sleepNs = steps.arm();
      if (sleepNs > 0 && !closing && devices.await(sleepNs)) {
        poller.woken();
      } else {
        poller.reset();
      }
    }
  }
}
