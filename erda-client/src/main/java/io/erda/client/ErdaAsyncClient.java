package io.erda.client;

import io.erda.protocol.ErdaException;
import io.erda.rdma.Device;
import java.lang.foreign.MemorySegment;
import java.util.function.LongSupplier;

/**
 * A client that pipelines: up to {@link ClientOptions#pipelineDepth()} gets and as many puts and
 * deletes are in flight at once. Nothing here blocks but {@link #await}; {@link #doWork()} advances
 * everything and calls the handler.
 *
 * <p>Belongs to one thread. Errors are those of {@link ErdaClient}, by way of {@link
 * OperationHandler#onError}. Puts and deletes of one key take effect in the order of submission;
 * between a get and a put that are both in flight there is no order. Keys and values are copied
 * before a submitting call returns. Operations wait for the connection, the first one too, for at
 * most the operation timeout.
 */
public final class ErdaAsyncClient implements AutoCloseable {
  private final ClientCore core;
  private final Device owned;

  private ErdaAsyncClient(ClientCore core, Device owned) {
    this.core = core;
    this.owned = owned;
  }

  /**
   * Begins to connect to a store; does not wait for it.
   *
   * @throws ErdaException.BadArgument when the URI names a device that this build does not have
   */
  public static ErdaAsyncClient connect(
      ErdaUri uri, ClientOptions options, OperationHandler handler) {
    Device device = Devices.open(uri);
    try {
      return start(
          device,
          Devices.address(uri),
          options,
          Devices.CLOCK,
          ProcessHandle.current().pid(),
          handler,
          device);
    } catch (RuntimeException | Error e) {
      device.close();
      throw e;
    }
  }

  /**
   * Begins to connect over a device of the caller's, which stays the caller's and must outlive the
   * client. Works in virtual time.
   *
   * @param address of the server, in the device's form
   * @param nanoTime the clock for time-outs, monotonic, ns
   */
  public static ErdaAsyncClient over(
      Device device,
      String address,
      ClientOptions options,
      LongSupplier nanoTime,
      OperationHandler handler) {
    return start(device, address, options, nanoTime, 0, handler, null);
  }

  private static ErdaAsyncClient start(
      Device device,
      String address,
      ClientOptions options,
      LongSupplier nanoTime,
      long processId,
      OperationHandler handler,
      Device owned) {
    ClientCore core =
        new ClientCore(
            device,
            address,
            options,
            nanoTime,
            processId,
            options.pipelineDepth(),
            java.util.Objects.requireNonNull(handler));
    core.connect();
    return new ErdaAsyncClient(core, owned);
  }

  /**
   * Submits a get.
   *
   * @param token comes back with the outcome
   * @return false, and nothing is submitted, when the pipeline is full
   * @throws ErdaException.BadSize when the key is empty or longer than the store takes
   */
  public boolean get(long token, MemorySegment key) {
    core.requireOpen();
    core.requireKey(key.byteSize());
    Get get = core.freeGet();
    if (get == null) {
      return false;
    }
    get.key(key);
    get.token = token;
    if (get.runNow()) {
      core.endLater(get);
    } else {
      get.begin();
    }
    return true;
  }

  /**
   * Submits a put.
   *
   * @return false, and nothing is submitted, when the pipeline is full
   * @throws ErdaException.BadSize when key or value are longer than the store takes
   */
  public boolean put(long token, MemorySegment key, MemorySegment value) {
    core.requireOpen();
    core.requireKey(key.byteSize());
    core.requireValue(key.byteSize(), value.byteSize());
    return submit(token, key, value);
  }

  /**
   * Submits a delete.
   *
   * @return false, and nothing is submitted, when the pipeline is full
   */
  public boolean delete(long token, MemorySegment key) {
    core.requireOpen();
    core.requireKey(key.byteSize());
    return submit(token, key, null);
  }

  private boolean submit(long token, MemorySegment key, MemorySegment value) {
    Put put = core.freePut();
    if (put == null) {
      return false;
    }
    put.build(key, value);
    put.token = token;
    put.begin();
    return true;
  }

  /** Advances everything; calls the handler. Returns how much was done; 0: nothing, for now. */
  public int doWork() {
    core.requireOpen();
    return core.doWork();
  }

  /**
   * Sleeps until there may be work or the time passes. Real threads only: never in virtual time.
   */
  public void await(long timeoutNs) {
    core.requireOpen();
    core.await(timeoutNs);
  }

  /** Operations that were submitted and have not ended. */
  public int inFlight() {
    return core.active();
  }

  /** Whether a connection is there; before the first one, limits and promise are not known. */
  public boolean isConnected() {
    return core.connected();
  }

  /** What this client has done. */
  public ClientStatistics statistics() {
    return core.statistics();
  }

  /** Ends the connection; the handler hears of everything in flight. Idempotent. */
  @Override
  public void close() {
    core.close();
    if (owned != null) {
      owned.close();
    }
  }
}
