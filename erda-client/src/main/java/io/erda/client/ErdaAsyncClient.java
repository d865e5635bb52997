package io.erda.client;

import io.erda.client.calls.CallersMemory;
import io.erda.client.calls.ClientCore;
import io.erda.client.calls.Confinement;
import io.erda.client.calls.Forgotten;
import io.erda.client.connections.ClientContext;
import io.erda.client.connections.Devices;
import io.erda.client.connections.KnownStore;
import io.erda.client.connections.ReadingDevices;
import io.erda.client.gets.Get;
import io.erda.client.iteration.Scan;
import io.erda.client.operations.Operation;
import io.erda.client.operations.Step;
import io.erda.client.puts.Put;
import io.erda.protocol.ErdaException;
import io.erda.rdma.Device;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.LongSupplier;

/**
 * A client that pipelines: up to {@link ClientOptions#pipelineDepth()} gets and as many puts and
 * deletes are in flight at once. Nothing here blocks but {@link #await}; {@link #doWork()} advances
 * everything and calls the handler.
 *
 * <p>The handler hears once of every operation that was submitted, whatever it does, throws or
 * submits, and whoever closes the client: see {@link OperationHandler}.
 *
 * <p>Belongs to one thread at a time, as an {@link ErdaClient} does: to the first that submits or
 * works, until that calls {@link #handOver()} or ends. {@link #close()}, {@link #inFlight()},
 * {@link #isConnected()} and {@link #statistics()} are for any thread; the latter three tell
 * another one what was so lately. Errors are those of {@link ErdaClient}, by way of {@link
 * OperationHandler#onError}. Puts and deletes of one key take effect in the order of submission;
 * between a get and a put that are both in flight there is no order. Keys and values are copied
 * before a submitting call returns. Operations wait for the connection, the first one too, for at
 * most the operation timeout.
 */
public final class ErdaAsyncClient implements AutoCloseable {
  private final ClientCore core;
  private final KnownStore store;
  private final Device owned;
  private final Confinement confinement = new Confinement();

  /** Null of a client whose device is the caller's, who closes that. */
  private Forgotten forgotten;

  /** Whether an iteration was begun. */
  private boolean iterates;

  private ErdaAsyncClient(ClientCore core, Device owned) {
    this.core = core;
    this.store = core.context.store();
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
          device,
          Devices.reading(uri));
    } catch (LinkageError | OutOfMemoryError e) {
      device.close();
      throw Devices.unusable(uri, e);
    } catch (RuntimeException | Error e) {
      device.close();
      throw e;
    }
  }

  /**
   * Begins to connect over a device of the caller's, which stays the caller's and must outlive the
   * client. Works in virtual time. A device belongs to one thread, and so do all clients over it.
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
    return start(device, address, options, nanoTime, 0, handler, null, null);
  }

  /**
   * Begins to connect over a device that was made for this client and is the client's from then on:
   * it is closed with the client.
   */
  public static ErdaAsyncClient owning(
      Device device,
      String address,
      ClientOptions options,
      LongSupplier nanoTime,
      OperationHandler handler) {
    return start(device, address, options, nanoTime, 0, handler, device, null);
  }

  private static ErdaAsyncClient start(
      Device device,
      String address,
      ClientOptions options,
      LongSupplier nanoTime,
      long processId,
      OperationHandler handler,
      Device owned,
      ReadingDevices reading) {
    Objects.requireNonNull(handler, "handler");
    ClientContext context =
        ClientContext.of(device, address, options, nanoTime, processId).reading(reading);
    ClientCore core = new ClientCore(context, options.pipelineDepth(), handler);
    ErdaAsyncClient client = new ErdaAsyncClient(core, owned);
    core.connect();
    client.confinement.handOver();
    if (owned != null) {
      // The core reaches the handler, which may reach the client: the device reaches neither.
      client.forgotten =
          Forgotten.watch(
              client.confinement, "a client of " + address, Forgotten.releasing(owned, reading));
    }
    return client;
  }

  /**
   * Submits a get.
   *
   * @param token comes back with the outcome
   * @return false, and nothing is submitted, when the pipeline is full
   * @throws ErdaException.BadSize when the key is empty or longer than the store takes
   */
  public boolean get(long token, MemorySegment key) {
    boolean outermost = confinement.enter();
    try {
      store.requireKey(key.byteSize());
      CallersMemory.require(key, "the key");
      Get get = core.freeGet();
      if (get == null) {
        return false;
      }
      get.key(key);
      get.token = token;
      if (get.runNow()) {
        core.endedAtOnce(get);
      } else {
        get.begin();
      }
      return true;
    } finally {
      leave(outermost);
    }
  }

  /**
   * Submits a put.
   *
   * @return false, and nothing is submitted, when the pipeline is full
   * @throws ErdaException.BadSize when key or value are longer than the store takes
   * @throws ErdaException.ReadOnly when the client only reads: see {@link ErdaClient}
   */
  public boolean put(long token, MemorySegment key, MemorySegment value) {
    boolean outermost = confinement.enter();
    try {
      core.requireServer("put");
      store.requireKey(key.byteSize());
      store.requireValue(key.byteSize(), value.byteSize());
      CallersMemory.require(key, "the key");
      CallersMemory.require(value, "the value");
      return submit(token, Condition.ALWAYS, key, null, value);
    } finally {
      leave(outermost);
    }
  }

  /**
   * Submits a put that is done if the key has no value. Its end is told by {@link
   * OperationHandler#onConditional}.
   *
   * @return false, and nothing is submitted, when the pipeline is full
   * @throws ErdaException.BadSize when key or value are longer than the store takes
   * @throws ErdaException.ReadOnly when the client only reads: see {@link ErdaClient}
   */
  public boolean putIfAbsent(long token, MemorySegment key, MemorySegment value) {
    boolean outermost = confinement.enter();
    try {
      core.requireServer("putIfAbsent");
      store.requireKey(key.byteSize());
      store.requireValue(key.byteSize(), value.byteSize());
      CallersMemory.require(key, "the key");
      CallersMemory.require(value, "the value");
      return submit(token, Condition.ABSENT, key, null, value);
    } finally {
      leave(outermost);
    }
  }

  /**
   * Submits a put that is done if the key has the value that is expected. Its end is told by {@link
   * OperationHandler#onConditional}.
   *
   * @return false, and nothing is submitted, when the pipeline is full
   * @throws ErdaException.BadSize when the key or the new value is longer than the store takes; an
   *     expected value that is longer is another one than the key has
   * @throws ErdaException.ReadOnly when the client only reads: see {@link ErdaClient}
   */
  public boolean compareAndSet(
      long token, MemorySegment key, MemorySegment expected, MemorySegment value) {
    boolean outermost = confinement.enter();
    try {
      core.requireServer("compareAndSet");
      store.requireKey(key.byteSize());
      store.requireValue(key.byteSize(), value.byteSize());
      CallersMemory.require(key, "the key");
      CallersMemory.require(expected, "the expected value");
      CallersMemory.require(value, "the value");
      return submit(token, Condition.EQUAL, key, expected, value);
    } finally {
      leave(outermost);
    }
  }

  /**
   * Submits a delete that is done if the key has the value that is expected. Its end is told by
   * {@link OperationHandler#onConditional}.
   *
   * @return false, and nothing is submitted, when the pipeline is full
   * @throws ErdaException.BadSize when the key is longer than the store takes; an expected value
   *     that is longer is another one than the key has
   * @throws ErdaException.ReadOnly when the client only reads: see {@link ErdaClient}
   */
  public boolean compareAndDelete(long token, MemorySegment key, MemorySegment expected) {
    boolean outermost = confinement.enter();
    try {
      core.requireServer("compareAndDelete");
      store.requireKey(key.byteSize());
      CallersMemory.require(key, "the key");
      CallersMemory.require(expected, "the expected value");
      return submit(token, Condition.EQUAL, key, expected, null);
    } finally {
      leave(outermost);
    }
  }

  /**
   * Submits a delete.
   *
   * @return false, and nothing is submitted, when the pipeline is full
   * @throws ErdaException.ReadOnly when the client only reads: see {@link ErdaClient}
   */
  public boolean delete(long token, MemorySegment key) {
    boolean outermost = confinement.enter();
    try {
      core.requireServer("delete");
      store.requireKey(key.byteSize());
      CallersMemory.require(key, "the key");
      return submit(token, Condition.ALWAYS, key, null, null);
    } finally {
      leave(outermost);
    }
  }

  /**
   * Begins an iteration over all keys of the store, and forgets the one before: {@link #next}
   * brings it forward. It promises what {@link KeyCursor} does.
   *
   * @throws IllegalStateException while the iteration before comes to its next key
   */
  public void iterate() {
    boolean outermost = confinement.enter();
    try {
      if (core.scan().step != Step.IDLE) {
        throw new IllegalStateException("the iteration before is coming to its next key");
      }
      core.scan().rewind();
      iterates = true;
    } finally {
      leave(outermost);
    }
  }

  /**
   * Submits that the iteration comes to its next key, of which {@link OperationHandler#onEntry}
   * hears. It may be submitted again after an error, and goes on where it stopped.
   *
   * @return false, and nothing is submitted, while the one before is under way
   * @throws IllegalStateException when no iteration was begun
   */
  public boolean next(long token) {
    boolean outermost = confinement.enter();
    try {
      Scan scan = core.scan();
      if (!iterates) {
        throw new IllegalStateException("no iteration was begun");
      }
      if (scan.step != Step.IDLE) {
        return false;
      }
      scan.token = token;
      if (scan.runNow()) {
        core.endedAtOnce(scan);
      } else {
        scan.begin();
      }
      return true;
    } finally {
      leave(outermost);
    }
  }

  private enum Condition {
    ALWAYS,
    ABSENT,
    EQUAL
  }

  private boolean submit(
      long token,
      Condition condition,
      MemorySegment key,
      MemorySegment expected,
      MemorySegment value) {
    Put put = core.freePut();
    if (put == null) {
      return false;
    }
    if (condition == Condition.EQUAL && !store.canHave(key, expected)) {
      put.conflictAtOnce();
      put.token = token;
      core.endedAtOnce(put);
      return true;
    }
    put.build(key, value);
    switch (condition) {
      case ABSENT -> put.onlyIfAbsent();
      case EQUAL -> put.onlyIfEqual(expected);
      case ALWAYS -> {
        // As it was built.
      }
    }
    put.token = token;
    put.begin();
    return true;
  }

  /**
   * Advances everything; calls the handler. Returns how much was done; 0: nothing, for now.
   *
   * <p>Throws what the handler threw, after everything that had ended was told: the first
   * exception, with further ones as its suppressed ones. The client works on.
   *
   * @throws IllegalStateException when the handler calls it
   */
  public int doWork() {
    enterFromOutside("doWork");
    try {
      int work;
      try {
        work = core.doWork();
      } finally {
        endIfClosed();
      }
      core.rethrow();
      return work;
    } finally {
      confinement.leave();
    }
  }

  /**
   * Sleeps until there may be work or the time passes; calls the handler and throws as {@link
   * #doWork()} does. An interrupt does not end the sleep; it stays set. Real threads only: never in
   * virtual time.
   *
   * <p>A loop of {@link #doWork()} polls some microseconds and then sleeps here: one that never
   * does keeps a core from others who want it, and one of these may be the server.
   *
   * @throws IllegalStateException when the handler calls it
   */
  public void await(long timeoutNs) {
    enterFromOutside("await");
    try {
      try {
        core.await(timeoutNs);
      } finally {
        endIfClosed();
      }
      core.rethrow();
    } finally {
      confinement.leave();
    }
  }

  /** Ends an {@link #await} of the owner's, this one or the next. From any thread. */
  void wakeup() {
    core.context.device().wakeup();
  }

  private void enterFromOutside(String method) {
    if (!confinement.enter()) {
      throw new IllegalStateException("a handler can't call " + method + "()");
    }
  }

  /** Leaves a call in which no handler was called, so that nobody can have closed the client. */
  private void leave(boolean outermost) {
    if (outermost) {
      confinement.leave();
    }
  }

  /**
   * Closes the client when a handler of this call asked for it. What handlers threw is taken after
   * this and before the call is left: from then on another thread may close the client, and what
   * handlers throw there is that thread's to hear.
   */
  private void endIfClosed() {
    if (confinement.closesOnLeaving()) {
      confinement.end(this::end);
    }
  }

  /**
   * Ends this thread's ownership: the next thread that submits or works owns the client then.
   *
   * @throws WrongThreadException when another thread owns the client
   * @throws IllegalStateException when the handler calls it
   */
  public void handOver() {
    confinement.handOver();
  }

  /** Operations that were submitted and whose end was not told yet. */
  public int inFlight() {
    return core.active();
  }

  /** Whether a connection is there; before the first one, limits and promise are not known. */
  public boolean isConnected() {
    return core.connected();
  }

  /** The counters of this client. */
  public ClientStatistics statistics() {
    return core.context.counts().statistics();
  }

  /**
   * Ends the connection and releases what it held; the handler hears of everything in flight, in
   * the thread that closes: {@link ErdaException.OutcomeUnknown} for puts and deletes that the
   * server had claimed or may have claimed, {@link ErdaException.Unavailable} for the rest, which
   * never takes effect. Any thread may call it: it waits for a call of the owner's to end first,
   * handlers included, but not for one that is in {@link System#exit}, nor, in a shutdown hook, for
   * more than 5 s: then it returns, and what the client holds goes with the process. From a handler
   * it returns at once, and the client is closed when the call that called the handler ends.
   * Whatever is submitted from then on is refused with {@link IllegalStateException}. Idempotent.
   * Throws as {@link #doWork()} does, when everything is told and released.
   */
  @Override
  public void close() {
    if (confinement.close(core.context.device()::wakeup, this::end)) {
      core.rethrow();
    }
  }

  private void end() {
    try {
      core.close();
    } finally {
      if (owned != null) {
        owned.close();
        forgotten.closed();
      }
    }
  }
}
