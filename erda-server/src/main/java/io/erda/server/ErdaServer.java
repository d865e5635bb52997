package io.erda.server;

import io.erda.client.ErdaUri;
import io.erda.protocol.ErdaException;
import io.erda.protocol.JvmErrors;
import io.erda.protocol.Promise;
import io.erda.protocol.Protocol;
import io.erda.rdma.Device;
import io.erda.rdma.DeviceProvider;
import io.erda.rdma.Listener;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.store.StoreEngine;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * Serves one data directory to the processes of this host over shared memory, and to other hosts
 * over the devices that its options name.
 *
 * <p>Owns the store and one thread, which sleeps while there is no work. Any thread may call any
 * method. A server keeps the JVM alive until it is closed or fails, because its clients are other
 * processes; an embedded {@link ErdaStore} does not.
 */
public final class ErdaServer implements AutoCloseable {
  private final List<String> uris;
  private final OpenedStore store;
  private final ServerThread server;
  private final Failures failures;

  private ErdaServer(List<String> uris, OpenedStore store, ServerThread server, Failures failures) {
    this.failures = failures;
    this.uris = List.copyOf(uris);
    this.store = store;
    this.server = server;
  }

  /**
   * Opens or creates the store in {@code data}, recovers it, and serves it at {@link #uri()} until
   * {@link #close()}.
   *
   * @throws ErdaException with a message of one line: in use, foreign, of another version, damaged,
   *     full
   */
  public static ErdaServer start(Path data, ServerOptions options) {
    try {
      return startOrThrow(data, options);
    } catch (LinkageError | OutOfMemoryError e) {
      throw new ErdaException.Unusable("can't serve " + data + ": " + JvmErrors.tell(e), e);
    }
  }

  private static ErdaServer startOrThrow(Path data, ServerOptions options) {
    OpenedStore store = OpenedStore.open(data, options, OpenedStore.Purpose.SERVE);
    List<Device> others = new ArrayList<>();
    Failures failures = new Failures();
    ServerLog log = null;
    try {
      if (options.log() != null) {
        log = new ServerLog(options.log(), System::nanoTime, failures);
        store.shm().onRefusal(log);
      }
      List<Served> served = new ArrayList<>();
      String shm = data.resolve(Protocol.SHM_DIRECTORY).toString();
      served.add(new Served(store.shm(), listen(store.shm(), shm)));
      List<String> uris = new ArrayList<>();
      uris.add(new ErdaUri.Shm(data.toAbsolutePath()).toString());
      for (Listening each : options.listening()) {
        Device device = open(each, options);
        others.add(device);
        device.onFailure(failures::ended);
        if (log != null) {
          device.onRefusal(log);
        }
        Listener listener = listen(device, each.address());
        served.add(new Served(device, listener));
        uris.add(each.scheme() + "://" + listener.address());
      }
      ServerLog logging = log;
      ServerThread.Wiring wiring = engine -> core(engine, served, options, logging);
      ServerCore core = wiring.over(store.engine());
      ServedDevices devices = new ServedDevices(store.shm(), others);
      if (log != null) {
        log.started(store, uris);
      }
      Steps steps = new OwnSteps(core);
      steps = options.timed() ? TimedSteps.of(steps, core, System::nanoTime) : steps;
      return new ErdaServer(
          uris,
          store,
          ServerThread.start(wiring, core, steps, devices, store, options, log, failures, false),
          failures);
    } catch (RuntimeException | Error e) {
      others.forEach(Device::close);
      store.closeUnserved();
      if (log != null) {
        log.close();
      }
      throw e;
    }
  }

  /** A device on which the store is served, and its listener. */
  private record Served(Device device, Listener listener) {}

  private static ServerCore core(
      StoreEngine engine, List<Served> served, ServerOptions options, ServerLog log) {
    ServerCore core =
        new ServerCore(engine, ServerThread.serviceOptions(options), System::nanoTime);
    for (Served each : served) {
      listen(core, each.device(), each.listener());
      each.device().figures().forEach(core::figure);
    }
    core.figure("server.cpu.ns", ErdaServer::processCpuNs);
    if (log != null) {
      core.onService(log);
    }
    return core;
  }

  private static Device open(Listening listening, ServerOptions options) {
    DeviceProvider.Settings settings =
        new DeviceProvider.Settings(
            listening.parameters(),
            System::nanoTime,
            SecureRandom::new,
            options.counted(),
            options.writeLatencyNs());
    DeviceProvider provider =
        DeviceProvider.of(listening.scheme())
            .orElseThrow(() ->
                new ErdaException.BadArgument(
                    "this build has no device for " + listening.scheme() + ":"));
    try {
      return provider.serving(settings);
    } catch (IllegalArgumentException e) {
      throw new ErdaException.BadArgument(listening.scheme() + ": " + e.getMessage());
    } catch (IOException e) {
      throw new ErdaException.Unusable(
          "can't serve at " + listening.address() + ": " + e.getMessage(), e);
    }
  }

  private static Listener listen(Device device, String address) {
    try {
      return device.listen(address);
    } catch (IOException e) {
      throw new ErdaException.Unusable("can't listen at " + address + ": " + e.getMessage(), e);
    }
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

  /** The URI by which clients of this host connect. */
  public String uri() {
    return uris.getFirst();
  }

  /**
   * All URIs by which clients connect: {@link #uri()}, then those of the options, in their order.
   */
  public List<String> uris() {
    return uris;
  }

  public UUID storeId() {
    return store.engine().storeId();
  }

  /** Returns the promise of the store: which failures an acknowledged put or delete survives. */
  public Promise promise() {
    return store.engine().promise();
  }

  /**
   * Returns the actions of recovery when the store was opened, one line each; empty when recovery
   * had nothing to do.
   */
  public List<String> notes() {
    return store.engine().recovery().notes();
  }

  /**
   * Returns the current figures of the server, by name, as {@link
   * io.erda.client.ErdaClient#stats()} does; {@link io.erda.server.figures.FigureCatalogue}
   * describes them. Needs no connection. Any thread may call it.
   *
   * @param timeout how long to wait for the server's thread
   * @throws ErdaException.Unavailable when the server has ended, or does not answer in time
   */
  public Map<String, Long> figures(Duration timeout) throws InterruptedException {
    return server.figures(timeout);
  }

  /**
   * Sets a listener that the server's thread calls once, with the reason, when the store's files
   * fail and it takes no more puts and deletes. If that has happened already the caller's thread
   * calls the listener at once.
   */
  public void onReadOnly(Consumer<String> listener) {
    server.onReadOnly(listener);
  }

  /**
   * Ends the server in order, and reports it as failed. An application calls this when one of its
   * threads fails without which the server is useless. Returns at once. Only the first failure is
   * reported.
   *
   * @param thread the name of that thread
   * @param error the reason
   */
  public void fail(String thread, Throwable error) {
    failures.ended(thread, error);
  }

  /** Waits until the server has ended. Returns why it failed, or null when it was closed. */
  public Throwable await() throws InterruptedException {
    return server.await();
  }

  /** Ends every connection and closes the store. Idempotent. */
  @Override
  public void close() {
    server.close();
  }

  private static long processCpuNs() {
    return ManagementFactory.getOperatingSystemMXBean()
            instanceof com.sun.management.OperatingSystemMXBean bean
        ? bean.getProcessCpuTime()
        : -1;
  }
}
