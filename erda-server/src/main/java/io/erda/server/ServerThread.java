package io.erda.server;

import io.erda.cleaner.CleanerOptions;
import io.erda.pmem.FailedStoreException;
import io.erda.pmem.FileErrors;
import io.erda.protocol.ErdaException;
import io.erda.protocol.JvmErrors;
import io.erda.rdma.Poller;
import io.erda.server.engine.service.Limits;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.server.engine.store.StoreEngine;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/**
 * The thread that drives a {@link ServerCore}. It polls as long as the poller allows, then sleeps
 * on its devices. Owns all objects that it is given.
 */
final class ServerThread implements AutoCloseable {
  /** Makes the core of a server over a store, on the server's devices. */
  interface Wiring {
    ServerCore over(StoreEngine engine);
  }

  /** How often the thread checks whether a full file system has room again, in nanoseconds. */
  private static final long ROOM_LOOK_NS = 1_000_000_000L;

  private final Wiring wiring;
  private final ServerOptions options;
  private final Steps steps;
  private final ServedDevices devices;
  private final DirectoryWatch watch;
  private final long startedNs = System.nanoTime();

  // Used only by the server's thread after it was started.

  private ServerCore core;
  private OpenedStore store;
  private FileThreads files;

  /** The threads that wait for the device; null when puts do not wait for a device. */
  private SyncThreads syncs;

  private long nextRoomLookNs = startedNs;

  /** Null when the server has no log. */
  private final ServerLog log;

  private final Poller poller;
  private final AskedFigures askedFigures = new AskedFigures();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Failures failures;
  private volatile boolean closing;
  private volatile Throwable failure;

  /**
   * The work of the thread. This object and the final steps are made in advance, because the thread
   * may get no memory at its end.
   */
  private final Runnable serving = this::begin;

  /** The final steps, in order. */
  private final List<Runnable> ending = ending();

  /**
   * The final steps that failed for lack of memory. Other threads read this after the thread has
   * ended.
   */
  private final boolean[] cutShort = new boolean[ending.size()];

  // Guarded by this.

  private String readOnlyReason;
  private Consumer<String> readOnlyListener = reason -> {};
  private Consumer<Throwable> failureListener = error -> {};

  private ServerThread(
      Wiring wiring,
      ServerCore core,
      Steps steps,
      ServedDevices devices,
      OpenedStore store,
      ServerOptions options,
      ServerLog log,
      Failures failures) {
    this.log = log;
    this.failures = failures;
    this.wiring = wiring;
    this.options = options;
    this.steps = steps;
    this.devices = devices;
    this.watch = new DirectoryWatch(store.place(), store.files(), devices::wakeup, failures);
    use(store, core);
    this.poller = new Poller(System::nanoTime, Poller.DEFAULT_SPIN_NS, options.pollingNs());
  }

  private void use(OpenedStore opened, ServerCore over) {
    store = opened;
    core = over;
    files = new FileThreads(store.engine().log().geometry().heads(), failures);
    syncs = syncs();
    core.fileWork(files);
    core.whereabouts(watch::loss);
    if (syncs != null) {
      core.syncs(syncs);
    }
    core.figure("pages.failures", files::failures);
    addFigures();
    core.onFull(this::becameFull);
    core.onReadOnly(this::becameReadOnly);
  }

  private SyncThreads syncs() {
    boolean done = false;
    try {
      SyncThreads threads =
          store.engine().waitsForDevice() ? new SyncThreads(devices::wakeup, failures) : null;
      done = true;
      return threads;
    } finally {
      if (!done) {
        files.close();
      }
    }
  }

  private void addFigures() {
    Runtime runtime = Runtime.getRuntime();
    core.figure("server.uptime.ns", () -> System.nanoTime() - startedNs);
    core.figure("server.pid", ProcessHandle.current()::pid);
    core.figure("server.heap.bytes", () -> runtime.totalMemory() - runtime.freeMemory());
    core.text("server.version", ErdaVersion.ofBuild());
    store.addFigures(core);
  }

  /**
   * Starts the thread.
   *
   * @param wiring makes another core when the store has to be opened again
   * @param steps the steps of the core
   * @param log receives a line when the store becomes read-only and when the server ends, and is
   *     closed at the end; null: no log
   * @param failures ends the server when another thread of the server failed
   * @param daemon whether the JVM may end while the thread runs; for the store this is like a kill
   */
  static ServerThread start(
      Wiring wiring,
      ServerCore core,
      Steps steps,
      ServedDevices devices,
      OpenedStore store,
      ServerOptions options,
      ServerLog log,
      Failures failures,
      boolean daemon) {
    ServerThread server =
        new ServerThread(wiring, core, steps, devices, store, options, log, failures);
    boolean started = false;
    try {
      core.prepareFigures();
      Thread thread = new Thread(server::run, "erda-server");
      thread.setDaemon(daemon);
      thread.start();
      started = true;
    } finally {
      if (!started) {
        server.endThreads();
        server.watch.close();
      }
    }
    failures.onFirst(() -> {
      server.closing = true;
      devices.wakeup();
    });
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
   * Returns the current figures of the server, by name. Any thread may call it.
   *
   * @throws ErdaException.Unavailable when the server has ended, or does not answer in time
   */
  Map<String, Long> figures(Duration timeout) throws InterruptedException {
    return askedFigures.ask(timeout, devices::wakeup);
  }

  private void becameFull(String reason) {
    say(
        Level.WARNING,
        "there is no room for what is to be stored: puts and deletes are refused, gets go on, and"
            + " all goes on by itself when there is room: "
            + reason);
  }

  private void say(Level level, String text) {
    if (log != null) {
      log.say(level, text);
    }
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

  /**
   * Sets the listener that is called once, with the reason, when the store takes no more puts. When
   * that has already happened it is called at once.
   */
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

  /**
   * Sets the listener that is called with the error that ends the server, before the connections
   * end. When the server has already failed it is called at once.
   */
  void onFailure(Consumer<Throwable> listener) {
    Throwable failed;
    synchronized (this) {
      failureListener = listener;
      failed = failure;
    }
    if (failed != null) {
      listener.accept(failed);
    }
  }

  private void tellFailure() {
    Consumer<Throwable> told;
    synchronized (this) {
      told = failureListener;
    }
    if (failure != null) {
      told.accept(failure);
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
    endWhatWasCutShort();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      attempt(serving);
      for (int i = 0; i < ending.size(); i++) {
        cutShort[i] = attempt(ending.get(i)) instanceof OutOfMemoryError;
      }
    } finally {
      ended.countDown();
    }
  }

  private void begin() {
    poller.onShared(new OtherCore()::take);
    serve();
  }

  private List<Runnable> ending() {
    return List.of(
        () -> askedFigures.end(),
        () -> steps.end(),
        () -> files.close(),
        () -> watch.close(),
        this::vouchForNoOther,
        this::endPublishing,
        this::tellFailure,
        () -> devices.closeOthers(),
        this::endService,
        () -> store.close(),
        () -> devices.close(),
        this::endSyncs,
        this::tellWhatIsToBeMended,
        this::sayEnd);
  }

  private void endPublishing() {
    if (failure == null) {
      // Another thread of the server may have failed; the store still ends in order.
      failure = failures.first();
      core.finishPublishing();
    } else {
      core.breakOff();
    }
  }

  private void endService() {
    if (devices.readsOutlivePeer()) {
      core.leave();
    } else {
      core.close();
    }
  }

  /**
   * Prevents the record of a clean stop when a file lost its name: the record would apply to the
   * file that has the name now.
   */
  private void vouchForNoOther() {
    if (store.files().lost() != null) {
      store.engine().leaveNoRecord();
    }
  }

  private void endSyncs() {
    if (syncs != null) {
      syncs.close();
    }
  }

  private void tellWhatIsToBeMended() {
    if (watch.loss() != null) {
      failure = lost(watch.loss(), failure);
    } else if (failure == null && core.readOnlyReason() != null && !core.isFull()) {
      // With this exception the process gets the exit code for a problem that must be solved before
      // the next start.
      failure = new ErdaException.ReadOnly("the store was read-only: " + core.readOnlyReason());
    }
  }

  /**
   * Runs one of the final steps. An error in it does not prevent the next step. Returns the error,
   * or null.
   */
  private Throwable attempt(Runnable step) {
    try {
      step.run();
      return null;
    } catch (Throwable e) {
      failure = failure == null ? e : failure;
      return e;
    }
  }

  /**
   * Repeats the final steps that failed in the server's thread for lack of memory. There may be
   * memory now, and the application can open the store again only when the store's files are
   * released.
   */
  private synchronized void endWhatWasCutShort() {
    for (int i = 0; i < cutShort.length; i++) {
      if (cutShort[i]) {
        cutShort[i] = false;
        attempt(ending.get(i));
      }
    }
  }

  private void sayEnd() {
    if (log != null && failure == null) {
      log.say(Level.INFO, "ended");
    } else if (log != null) {
      String ofFiles = FileErrors.explain(failure);
      log.say(
          Level.ERROR,
          "ended because it failed: " + (ofFiles == null ? JvmErrors.tell(failure) : ofFiles));
    }
    if (log != null) {
      log.close();
    }
  }

  /**
   * Returns the exception of a server that ends because its store lost its name. Other failures may
   * have followed from that.
   */
  private static Throwable lost(String loss, Throwable failure) {
    ErdaException.ReadOnly lost = new ErdaException.ReadOnly(loss);
    if (failure != null) {
      lost.addSuppressed(failure);
    }
    return lost;
  }

  /**
   * Opens a store whose file system was full again, as after a kill, if there is room now. Clients
   * reconnect.
   */
  private void goOnWhereThereIsRoom() {
    long nowNs = System.nanoTime();
    if (core.isFull() && nowNs - nextRoomLookNs >= 0) {
      if (core.hasRoomAgain()) {
        steps.change(this::openedAgain);
      }
      nextRoomLookNs = System.nanoTime() + ROOM_LOOK_NS;
    }
  }

  private ServerCore openedAgain() {
    // During recovery no client may store in the store, and no thread may make a file for it.
    core.endConnections();
    endThreads();
    ServerCore before = core;
    OpenedStore again = null;
    ServerCore next;
    try {
      again = store.again(options);
      before.releasePorts();
      next = wiring.over(again.engine());
    } catch (ErdaException.Full | FailedStoreException e) {
      if (again != null) {
        again.engine().abandon();
        again.engine().close();
      }
      use(store, before);
      return before;
    }
    before.giveWay();
    use(again, next);
    say(Level.INFO, "there is room again: puts and deletes go on");
    return next;
  }

  private void endThreads() {
    files.close();
    endSyncs();
  }

  private void serve() {
    while (!closing) {
      if (askedFigures.any()) {
        askedFigures.answer(steps::figures);
      }
      if (poller.mayPoll(steps.doWork())) {
        continue;
      }
      goOnWhereThereIsRoom();
      long sleepNs = steps.arm();
      if (sleepNs > 0 && !closing && !askedFigures.any() && devices.await(sleepNs)) {
        poller.woken();
      } else {
        poller.reset();
      }
    }
  }
}
