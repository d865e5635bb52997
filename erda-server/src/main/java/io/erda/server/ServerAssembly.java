package io.erda.server;

import io.erda.cleaner.CleanerOptions;
import io.erda.protocol.ErdaException;
import io.erda.rdma.Device;
import io.erda.rdma.Listener;
import io.erda.server.engine.events.ServiceListener;
import io.erda.server.engine.files.StoreFiles;
import io.erda.server.engine.files.TableGrowthOptions;
import io.erda.server.engine.publishing.Syncs;
import io.erda.server.engine.service.CoreSurroundings;
import io.erda.server.engine.service.Limits;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.service.ServiceOptions;
import io.erda.server.engine.service.Turn;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The parts of a server besides its thread: options, devices, watch, log and clock. {@link #serve}
 * makes the {@link StoreService} of an opened store with them. Owns devices, watch and log.
 */
final class ServerAssembly {
  /** A device on which a store is served, and its listener. */
  record BoundDevice(Device device, Listener listener) {}

  final ServerOptions options;
  final ServedDevices devices;
  final DirectoryWatch watch;
  final OtherOpening other;

  /** Null when the server has no log. */
  final ServerLog log;

  final ReadOnlyNews news;

  /** Ends the server when a thread beside it failed. */
  final Failures failures;

  private final List<BoundDevice> ports;
  private final List<Device> abandoned;
  private final Turn turn;
  private final BooleanSupplier crowded;
  private final LongSupplier nanoTime;
  private final Consumer<ServerCore> figures;
  private final long startedNs;

  /**
   * @param store the store that is served first; its directory is watched
   * @param ports the ports at which the store is served, over the devices
   * @param abandoned devices on which the store is not served, where clients of earlier servers may
   *     live
   * @param turn the turns in which threads of the devices handle requests
   * @param memory the memory that clients take; null when it is the application's, too
   * @param log null: none
   * @param nanoTime the clock of cores
   * @param figures adds further figures to a core
   */
  ServerAssembly(
      ServerOptions options,
      OpenedStore store,
      ServedDevices devices,
      List<BoundDevice> ports,
      List<Device> abandoned,
      Turn turn,
      ClientMemory memory,
      ServerLog log,
      Failures failures,
      LongSupplier nanoTime,
      Consumer<ServerCore> figures) {
    this.options = options;
    this.devices = devices;
    this.ports = List.copyOf(ports);
    this.abandoned = List.copyOf(abandoned);
    this.turn = turn;
    this.crowded = memory == null ? () -> false : memory::isScarce;
    this.log = log;
    this.news = new ReadOnlyNews(log);
    if (store.lostWrites() != null) {
      news.lostWrites(store.lostWrites());
    }
    this.failures = failures;
    this.nanoTime = nanoTime;
    this.startedNs = nanoTime.getAsLong();
    this.figures = figures;
    this.other = new OtherOpening(store.place());
    this.watch =
        new DirectoryWatch(
            store.place(),
            store.files(),
            other,
            () -> store.place().failure(StoreFiles.SUPERBLOCK),
            devices::wakeup,
            failures);
  }

  /**
   * Serves a store: makes the threads that work for its core, then the core, and makes it
   * reachable.
   *
   * @throws ErdaException.Unusable when a device does not take the store's memory
   */
  StoreService serve(OpenedStore store) {
    FileThreads files = null;
    SyncThreads syncs = null;
    boolean done = false;
    other.begins(store.engine());
    try {
      files = new FileThreads(store.engine().log().geometry().heads(), failures);
      syncs = store.engine().waitsForDevice() ? new SyncThreads(devices::wakeup, failures) : null;
      StoreService served = new StoreService(store, core(store, files, syncs), files, syncs);
      done = true;
      return served;
    } finally {
      if (!done && syncs != null) {
        syncs.close();
      }
      if (!done && files != null) {
        files.close();
      }
    }
  }

  private ServerCore core(OpenedStore store, FileThreads files, SyncThreads syncs) {
    ServerCore core =
        new ServerCore(
            store.engine(),
            serviceOptions(options),
            new CoreSurroundings(
                files,
                syncs == null ? Syncs.AT_ONCE : syncs,
                watch::loss,
                log == null ? ServiceListener.NONE : log,
                news,
                abandoned,
                turn,
                crowded,
                LockSupport::parkNanos),
            nanoTime);
    if (options.commits() == Committers.OWN && !options.timed()) {
      core.letClientsCommit();
    }
    for (BoundDevice each : ports) {
      listen(core, each.device(), each.listener());
      each.device().figures().forEach(core::figure);
    }
    figures.accept(core);
    core.figure("pages.failures", files::failures);
    addFigures(core);
    store.addFigures(core);
    return core;
  }

  /** Registers the store with the device, which hardware may refuse. */
  private static void listen(ServerCore core, Device device, Listener listener) {
    try {
      core.listen(device, listener);
    } catch (IllegalStateException e) {
      throw new ErdaException.Unusable(
          "can't serve at " + listener.address() + ": " + e.getMessage(), e);
    }
  }

  private void addFigures(ServerCore core) {
    Runtime runtime = Runtime.getRuntime();
    core.figure("server.uptime.ns", () -> nanoTime.getAsLong() - startedNs);
    core.figure("server.pid", ProcessHandle.current()::pid);
    core.figure("server.heap.bytes", () -> runtime.totalMemory() - runtime.freeMemory());
    core.figure("server.direct.bytes", DirectMemory::bytes);
    core.text("server.version", ErdaVersion.ofBuild());
  }

  static ServiceOptions serviceOptions(ServerOptions options) {
    ServiceOptions defaults = ServiceOptions.DEFAULT;
    TableGrowthOptions growth = TableGrowthOptions.DEFAULT;
    return new ServiceOptions(
        options.connectionsMax(),
        defaults.reservationIdleNs(),
        defaults.extentBytesMax(),
        options.pollingNs(),
        options.cleaning()
            ? defaults.cleaning().withLivePercent(options.livePercent())
            : CleanerOptions.NEVER,
        limits(options),
        new TableGrowthOptions(options.bucketsMax(), growth.stretchSlots(), growth.graceNs()));
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
}
