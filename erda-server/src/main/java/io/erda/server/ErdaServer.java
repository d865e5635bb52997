package io.erda.server;

import io.erda.client.ErdaUri;
import io.erda.protocol.ErdaException;
import io.erda.protocol.JvmErrors;
import io.erda.protocol.Promise;
import io.erda.protocol.Protocol;
import io.erda.rdma.Device;
import io.erda.rdma.DeviceProvider;
import io.erda.rdma.Listener;
import io.erda.rdma.RefusalListener;
import io.erda.server.engine.service.ServerCore;
import io.erda.server.engine.service.Turn;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
  private final ReadOnlyNews news;
  private final Failures failures;

  private ErdaServer(
      List<String> uris,
      OpenedStore store,
      ServerThread server,
      ReadOnlyNews news,
      Failures failures) {
    this.news = news;
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
    return startOrTell(data, options, null);
  }

  /**
   * Starts a server in two parts, for a process that gives up rights in between. The first part
   * takes the TCP addresses and reads the files of the devices (secret, certificate, key). The
   * second part makes or opens the store, and serves it as {@link #start(Path, ServerOptions)}
   * does.
   *
   * @param beforeOpening runs between the two parts. When it throws, the server does not start: the
   *     addresses are given back, the server has made no file, and this method throws the same
   *     exception
   * @throws ErdaException as {@link #start(Path, ServerOptions)}
   */
  public static ErdaServer start(Path data, ServerOptions options, Runnable beforeOpening) {
    return startOrTell(data, options, Objects.requireNonNull(beforeOpening, "beforeOpening"));
  }

  private static ErdaServer startOrTell(Path data, ServerOptions options, Runnable beforeOpening) {
    try {
      return startOrThrow(data, options, beforeOpening);
    } catch (LinkageError | OutOfMemoryError e) {
      throw new ErdaException.Unusable("can't serve " + data + ": " + JvmErrors.tell(e), e);
    }
  }

  private static ErdaServer startOrThrow(Path data, ServerOptions options, Runnable beforeOpening) {
    List<Device> others = new ArrayList<>();
    try {
      if (beforeOpening != null) {
        openAll(others, options);
        beforeOpening.run();
      }
      OpenedStore store = OpenedStore.open(data, options, OpenedStore.Purpose.SERVE);
      return serve(data, store, others, options);
    } catch (RuntimeException | Error e) {
      others.forEach(Device::close);
      throw e;
    }
  }

  /** Opens the devices besides shared memory, and takes their addresses as far as they can. */
  private static void openAll(List<Device> others, ServerOptions options) {
    for (Listening each : options.listening()) {
      Device device = open(each, options);
      others.add(device);
      try {
        device.bind(each.address());
      } catch (IOException e) {
        throw cannotListen(each.address(), e);
      }
    }
  }

  /**
   * Serves a store that was opened; closes it when that fails.
   *
   * @param others the devices besides shared memory: none, or those of all addresses; closed and
   *     removed when this fails
   */
  private static ErdaServer serve(
      Path data, OpenedStore store, List<Device> others, ServerOptions options) {
    Failures failures = new Failures();
    // The threads of other devices take turns with the server's; over shared memory it is alone.
    // Clients that commit by themselves do so between turns.
    boolean takesTurns = !options.listening().isEmpty() || options.commits() == Committers.OWN;
    StepTurn turn = takesTurns && !options.timed() ? new StepTurn(System::nanoTime) : null;
    ServerLog log = null;
    ServerAssembly assembly = null;
    try {
      if (options.log() != null) {
        log = new ServerLog(options.log(), System::nanoTime, failures);
      }
      List<ServerAssembly.BoundDevice> ports = new ArrayList<>();
      String shm = data.resolve(Protocol.SHM_DIRECTORY).toString();
      ports.add(
          new ServerAssembly.BoundDevice(store.shm(), listen(store.shm(), shm, log, failures)));
      List<String> uris = new ArrayList<>();
      uris.add(new ErdaUri.Shm(data.toAbsolutePath()).toString());
      for (int i = 0; i < options.listening().size(); i++) {
        Listening each = options.listening().get(i);
        if (i == others.size()) {
          others.add(open(each, options));
        }
        Device device = others.get(i);
        Listener listener = listen(device, each.address(), log, failures);
        ports.add(new ServerAssembly.BoundDevice(device, listener));
        uris.add(each.scheme() + "://" + listener.address());
      }
      assembly =
          new ServerAssembly(
              options,
              store,
              new ServedDevices(store.shm(), others),
              ports,
              List.of(),
              turn == null ? Turn.NONE : turn,
              new ClientMemory(System::nanoTime),
              log,
              failures,
              System::nanoTime,
              core -> core.figure("server.cpu.ns", ErdaServer::processCpuNs));
      StoreService served = assembly.serve(store);
      ServerCore core = served.core();
      Steps steps = steps(core, turn, options);
      if (log != null) {
        log.started(store, uris);
      }
      ServerThread server = ServerThread.start(assembly, served, steps, error -> {}, false);
      return new ErdaServer(uris, store, server, assembly.news, failures);
    } catch (RuntimeException | Error e) {
      if (assembly != null) {
        assembly.watch.close();
      }
      others.forEach(Device::close);
      others.clear();
      store.closeUnserved();
      if (log != null) {
        log.close();
      }
      throw e;
    }
  }

  private static Steps steps(ServerCore core, StepTurn turn, ServerOptions options) {
    if (turn != null) {
      return new TurnSteps(core, turn);
    }
    return options.timed() ? new TimedSteps(core, System::nanoTime) : new Steps(core);
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

  private static Listener listen(
      Device device, String address, RefusalListener log, Failures failures) {
    try {
      return device.listen(address, log == null ? RefusalListener.NONE : log, failures::ended);
    } catch (IOException e) {
      throw cannotListen(address, e);
    }
  }

  private static ErdaException.Unusable cannotListen(String address, IOException e) {
    return new ErdaException.Unusable("can't listen at " + address + ": " + e.getMessage(), e);
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
   * Returns the actions of recovery when the store was opened, one line each, and what the device
   * did not take before; empty when there is nothing to tell.
   */
  public List<String> notes() {
    return store.notes();
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
   * Sets a listener that a thread of its own calls once, with the reason, when the store's files
   * fail and it takes no more puts and deletes. The listener may close the server. If that has
   * happened already the caller's thread calls the listener at once.
   */
  public void onReadOnly(Consumer<String> listener) {
    news.onReadOnly(listener);
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
