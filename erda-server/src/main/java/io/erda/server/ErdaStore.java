package io.erda.server;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaAsyncClient;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaFutures;
import io.erda.client.OperationHandler;
import io.erda.client.connections.LocalPublisher;
import io.erda.protocol.ErdaException;
import io.erda.protocol.JvmErrors;
import io.erda.protocol.Promise;
import io.erda.rdma.Device;
import io.erda.rdma.Listener;
import io.erda.rdma.embedded.EmbeddedDevice;
import io.erda.rdma.embedded.EmbeddedNetwork;
import io.erda.server.engine.service.Turn;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * A store in the JVM of its clients; no other process can use it while it is open. Clients of an
 * earlier server of the store fail at their next call.
 *
 * <p>Owns the store and one server thread, which sleeps while there is no work: the calling thread
 * does a put, and the server's thread cleans. Any thread may call any method. A client belongs to
 * one thread at a time, and the caller of {@link #client()} closes it. Closing the store ends its
 * clients' connections.
 *
 * <p>An open store does not keep the JVM alive. If the JVM ends while the store is open, the store
 * is as after a kill of the process: acknowledged changes are kept, and the next opening recovers
 * it. The store works until all shutdown hooks have ended, so a hook may use and close it.
 */
public final class ErdaStore implements AutoCloseable {
  private static final String ADDRESS = "erda";

  private final EmbeddedNetwork network;
  private final ServerThread server;
  private final OpenedStore store;

  /**
   * Publishes puts in the callers' threads; null when WRITEs are counted or delayed, and when puts
   * wait for a device.
   */
  private final LocalPublisher publisher;

  private ErdaStore(
      EmbeddedNetwork network, ServerThread server, OpenedStore store, LocalPublisher publisher) {
    this.publisher = publisher;
    this.network = network;
    this.server = server;
    this.store = store;
  }

  /**
   * Opens the store in {@code data}, or creates it there.
   *
   * @throws ErdaException with a message of one line: in use, foreign, of another version, damaged,
   *     full
   */
  public static ErdaStore open(Path data) {
    return open(data, ServerOptions.DEFAULTS);
  }

  /** Opens the store in {@code data}, or creates it there, with these options. */
  public static ErdaStore open(Path data, ServerOptions options) {
    try {
      return openOrThrow(data, options);
    } catch (LinkageError | OutOfMemoryError e) {
      throw new ErdaException.Unusable("can't open " + data + ": " + JvmErrors.tell(e), e);
    }
  }

  private static ErdaStore openOrThrow(Path data, ServerOptions options) {
    OpenedStore store = OpenedStore.open(data, options, OpenedStore.Purpose.HOLD);
    EmbeddedNetwork network = new EmbeddedNetwork(System::nanoTime, StepFailure::inWords);
    EmbeddedDevice device = network.device(options.counted(), options.writeLatencyNs());
    ServerAssembly assembly = null;
    try {
      Listener listener = device.listen(ADDRESS);
      assembly = assembly(store, device, listener, options, System::nanoTime, new Failures());
      StoreService served = assembly.serve(store);
      SharedSteps steps = new SharedSteps(served.core(), device::wakeup, System::nanoTime);
      ServerThread server = ServerThread.start(assembly, served, steps, network::fail, true);
      device.onRing(steps::help);
      boolean publishesNow = device.isPlain() && !store.engine().waitsForDevice();
      return new ErdaStore(network, server, store, publishesNow ? steps : null);
    } catch (IOException | RuntimeException e) {
      closeUnserved(assembly, device, store);
      throw new ErdaException.Unusable("can't serve " + data + ": " + e.getMessage(), e);
    } catch (Error e) {
      closeUnserved(assembly, device, store);
      throw e;
    }
  }

  private static void closeUnserved(ServerAssembly assembly, Device device, OpenedStore store) {
    if (assembly != null) {
      assembly.watch.close();
    }
    device.close();
    store.closeUnserved();
  }

  /**
   * What the server of an embedded store is made of.
   *
   * @param nanoTime the clock of its core
   */
  static ServerAssembly assembly(
      OpenedStore store,
      EmbeddedDevice device,
      Listener listener,
      ServerOptions options,
      LongSupplier nanoTime,
      Failures failures) {
    // The server's thread sleeps as soon as it is idle, so that callers do the work.
    return new ServerAssembly(
        options.withPollingNs(0),
        store,
        new ServedDevices(device, List.of()),
        List.of(new ServerAssembly.BoundDevice(device, listener)),
        store.shm() == null ? List.of() : List.of(store.shm()),
        Turn.NONE,
        null,
        null,
        failures,
        nanoTime,
        core -> {});
  }

  /** Returns a new client of this store, for one thread. Close it after use. */
  public ErdaClient client() {
    return client(ClientOptions.DEFAULT);
  }

  /** As {@link #client()}, with options. */
  public ErdaClient client(ClientOptions options) {
    Device device = network.device();
    try {
      return ErdaClient.over(device, ADDRESS, options, System::nanoTime, publisher);
    } catch (LinkageError | OutOfMemoryError e) {
      throw unusable(e);
    }
  }

  /** Returns a new client of this store that pipelines, for one thread. Close it after use. */
  public ErdaAsyncClient asyncClient(ClientOptions options, OperationHandler handler) {
    Device device = network.device();
    try {
      return ErdaAsyncClient.owning(device, ADDRESS, options, System::nanoTime, handler);
    } catch (LinkageError | OutOfMemoryError e) {
      throw unusable(e);
    }
  }

  private static ErdaException unusable(Error e) {
    return new ErdaException.Unusable(
        "can't connect to the store in this process: " + JvmErrors.tell(e), e);
  }

  /**
   * Returns futures over a new client of this store. Close them after use.
   *
   * @param pendingMax how many operations may be submitted and not completed
   */
  public ErdaFutures futures(ClientOptions options, int pendingMax) {
    return ErdaFutures.over(handler -> asyncClient(options, handler), options, pendingMax);
  }

  /** Returns the promise of the store: which failures an acknowledged put or delete survives. */
  public Promise promise() {
    return store.engine().promise();
  }

  /**
   * Returns the actions of recovery when the store was opened, one line each, and what the device
   * did not take before; empty when there is nothing to tell.
   */
  public List<String> notes() {
    return store.notes();
  }

  /**
   * Returns the current figures of the store, by name; {@link
   * io.erda.server.figures.FigureCatalogue} describes them.
   *
   * @param timeout how long to wait for the server's thread
   * @throws ErdaException.Unavailable when the store is closed, or does not answer in time
   */
  public Map<String, Long> figures(Duration timeout) throws InterruptedException {
    return server.figures(timeout);
  }

  /**
   * Ends every connection and closes the store. Calls that are under way, and later ones, throw
   * {@link ErdaException.Unavailable} or {@link ErdaException.OutcomeUnknown}, which say that the
   * store was closed. Idempotent.
   *
   * <p>A store in which a step failed, for example by a stack overflow, has already ended: all
   * calls throw the same exceptions, and their messages describe the failure. Close it and open it
   * again.
   */
  @Override
  public void close() {
    network.close();
    server.close();
  }
}
