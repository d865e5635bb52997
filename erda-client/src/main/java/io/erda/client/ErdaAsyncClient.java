package io.erda.client;

import io.erda.client.calls.ClientCore;
import io.erda.client.calls.Confinement;
import io.erda.client.calls.Forgotten;
import io.erda.client.calls.JvmEnd;
import io.erda.client.connections.ClientContext;
import io.erda.client.connections.Devices;
import io.erda.client.connections.KnownStore;
import io.erda.client.connections.LocalPublisher;
import io.erda.client.gets.Get;
import io.erda.client.iteration.Scan;
import io.erda.client.operations.CallersMemory;
import io.erda.client.operations.Step;
import io.erda.client.puts.Put;
import io.erda.protocol.ErdaException;
import io.erda.rdma.Device;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.LongSupplier;

/**
 * A client that pipelines: up to {@link ClientOptions#pipelineDepth()} gets and as many puts and
 * deletes are in flight at once. No method blocks except {@link #await} and {@link #close()}.
 * {@link #doWork()} advances all operations and calls the handler.
 *
 * <p>The handler is called exactly once for every operation that was submitted, whatever the
 * handler does or throws, and whichever thread closes the client: see {@link OperationHandler}.
 *
 * <p>A client belongs to one thread at a time, as an {@link ErdaClient} does. The first thread that
 * submits an operation or calls {@link #doWork()} or {@link #await} owns the client until it calls
 * {@link #handOver()} or ends. Any thread may call {@link #close()}, {@link #inFlight()}, {@link
 * #isConnected()} and {@link #statistics()}; in a thread that is not the owner the results of the
 * latter three may be slightly out of date. Errors are those of {@link ErdaClient}, and are passed
 * to {@link OperationHandler#onError}. Puts and deletes of one key take effect in the order of
 * submission. A get and a put that are in flight together have no order. Keys and values are copied
 * before a submitting call returns. Operations wait for the connection, the first one too, for at
 * most the operation timeout.
 */
public final class ErdaAsyncClient implements AutoCloseable {
  private final ClientCore core;
  private final KnownStore store;
  private final Device owned;
  private final Confinement confinement = new Confinement();

  /**
   * Closes the client. Made early: to link it later takes stack and heap, which may be exhausted.
   */
  private final Runnable end = this::end;

  /** Null when the client borrows its device from the caller. */
  private Forgotten forgotten;

  /** Whether {@link #iterate} was called. */
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
      ClientContext context =
          ClientContext.of(
              device, Devices.address(uri), options, Devices.CLOCK, ProcessHandle.current().pid());
      return start(context.reading(Devices.reading(uri)), handler, device);
    } catch (LinkageError | OutOfMemoryError e) {
      device.close();
      throw Devices.unusable(uri, e);
    } catch (RuntimeException | Error e) {
      device.close();
      throw e;
    }
  }

  /**
   * Begins to connect over a device that the client borrows: the caller closes it after the client.
   * Works in virtual time. A device belongs to one thread, and so do all clients over it.
   *
   * @param address the address of the server, in the device's form
   * @param nanoTime the clock for time-outs, monotonic, ns
   */
  public static ErdaAsyncClient over(
      Device device,
      String address,
      ClientOptions options,
      LongSupplier nanoTime,
      OperationHandler handler) {
    return over(device, address, options, nanoTime, handler, null);
  }

  /**
   * As {@link #over(Device, String, ClientOptions, LongSupplier, OperationHandler)}, for a server
   * in this process.
   *
   * @param publisher publisher of the server at the address; null when puts are sent as messages
   */
  public static ErdaAsyncClient over(
      Device device,
      String address,
      ClientOptions options,
      LongSupplier nanoTime,
      OperationHandler handler,
      LocalPublisher publisher) {
    return start(ClientContext.of(device, address, options, nanoTime, 0, publisher), handler, null);
  }

  /**
   * Begins to connect over a device that the client owns: it is closed with the client, or when
   * this method throws.
   */
  public static ErdaAsyncClient owning(
      Device device,
      String address,
      ClientOptions options,
      LongSupplier nanoTime,
      OperationHandler handler) {
    try {
      return start(ClientContext.of(device, address, options, nanoTime, 0), handler, device);
    } catch (RuntimeException | Error e) {
      device.close();
      throw e;
    }
  }

  private static ErdaAsyncClient start(
      ClientContext context, OperationHandler handler, Device owned) {
    Objects.requireNonNull(handler, "handler");
    ClientCore core = new ClientCore(context, context.options().pipelineDepth(), handler);
    ErdaAsyncClient client = new ErdaAsyncClient(core, owned);
    core.connect();
    client.confinement.handOver();
    if (owned != null) {
      // The task that releases the client must not keep the client reachable. The core refers to
      // the handler, which may refer to the client; the device refers to neither.
      client.forgotten =
          Forgotten.watch(
              client.confinement,
              "a client of " + context.address(),
              Forgotten.releasing(owned, context.reading()));
    }
    return client;
  }

  /**
   * Submits a get.
   *
   * @param token is passed to the handler with the outcome
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
   * Submits a put that is done if the key has no value. {@link OperationHandler#onConditional}
   * receives the outcome.
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
   * Submits a put that is done if the key has the expected value. {@link
   * OperationHandler#onConditional} receives the outcome.
   *
   * @return false, and nothing is submitted, when the pipeline is full
   * @throws ErdaException.BadSize when the key or the new value is longer than the store takes. An
   *     expected value that is longer is no error: the condition does not hold
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
   * Submits a delete that is done if the key has the expected value. {@link
   * OperationHandler#onConditional} receives the outcome.
   *
   * @return false, and nothing is submitted, when the pipeline is full
   * @throws ErdaException.BadSize when the key is longer than the store takes. An expected value
   *     that is longer than the store takes is no error: the condition does not hold
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
   * Begins an iteration over all keys of the store, and drops the previous one. {@link #next}
   * advances it. Its guarantees are those of {@link KeyCursor}.
   *
   * @throws IllegalStateException while {@link #next} of the previous iteration is under way
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
   * Submits a step of the iteration to its next key; {@link OperationHandler#onEntry} receives the
   * key. After an error the step may be submitted again, and the iteration goes on where it
   * stopped.
   *
   * @return false, and nothing is submitted, while the previous step is under way
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
    switch (condition) {
      case ABSENT -> put.buildIfAbsent(key, value);
      case EQUAL -> put.buildIfEqual(key, expected, value);
      case ALWAYS -> put.build(key, value);
    }
    put.token = token;
    put.begin();
    return true;
  }

  /**
   * Advances all operations and calls the handler. Returns a measure of the work that was done, 0
   * when there was none.
   *
   * <p>If the handler threw an exception, this method throws it after the handler was called for
   * all operations that had ended; further exceptions are suppressed in the first one. The client
   * remains usable.
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
   * #doWork()} does. An interrupt does not end the sleep; the thread's interrupt status stays set.
   * Only for real threads, never in virtual time.
   *
   * <p>A loop should call {@link #doWork()} for some microseconds and then sleep here: a loop that
   * never sleeps occupies a core that other threads need, perhaps the server's thread.
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

  /** Ends the owner's current {@link #await}, or its next one. Any thread may call it. */
  void wakeup() {
    core.context.device().wakeup();
  }

  private void enterFromOutside(String method) {
    if (!confinement.enter()) {
      throw new IllegalStateException("a handler can't call " + method + "()");
    }
  }

  /** Leaves a call that has called no handler, so that no handler can have closed the client. */
  private void leave(boolean outermost) {
    if (outermost) {
      confinement.leave();
    }
  }

  /**
   * Closes the client when a handler of this call asked for it. The caller collects the exceptions
   * of handlers after this and before it leaves the call: after that another thread may close the
   * client, and the exceptions of handlers that run in that thread are thrown there.
   */
  private void endIfClosed() {
    if (confinement.closesOnLeaving()) {
      confinement.end(end);
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

  /**
   * Returns the number of operations that were submitted and whose outcome the handler has not
   * received yet.
   */
  public int inFlight() {
    return core.active();
  }

  /**
   * Whether the client is connected. Before the first connection the limits and the promise are not
   * known.
   */
  public boolean isConnected() {
    return core.connected();
  }

  /** The counters of this client. */
  public ClientStatistics statistics() {
    return core.context.counts().statistics();
  }

  /**
   * Ends the connection and releases the client's resources. The closing thread calls the handler
   * for all operations in flight: with {@link ErdaException.OutcomeUnknown} for puts and deletes
   * that the server had claimed or may have claimed, and with {@link ErdaException.Unavailable} for
   * all others, which never take effect.
   *
   * <p>Any thread may call it. It first waits for the end of the owner's current call, including
   * its handlers. It does not wait for a call that is in {@link System#exit}, and in a shutdown
   * hook it waits for at most 5 s; then it returns, and the end of the process releases the
   * client's resources. When a handler calls it, it returns at once, and the client is closed when
   * the call that called the handler ends. Later submissions throw {@link IllegalStateException}.
   * Idempotent. Throws the exceptions of handlers as {@link #doWork()} does, after all resources
   * are released.
   */
  @Override
  public void close() {
    if (confinement.close(core.context.device()::wakeup, end)) {
      core.rethrow();
    }
  }

  private void end() {
    JvmEnd.callingHandlers(this::release);
  }

  private void release() {
    confinement.callsHandlersHere();
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
