package io.erda.client;

import io.erda.client.calls.Forgotten;
import io.erda.client.shared.FutureDriver;
import io.erda.client.shared.FutureOperation;
import io.erda.protocol.ErdaException;
import java.lang.ref.Reference;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * A client whose operations return futures. Any thread may call any method; the client has one
 * thread, which drives an {@link ErdaAsyncClient}. It is meant for applications that have many
 * operations under way, or have no thread that may block. For a single get a blocking {@link
 * ErdaClient} in the application's thread is much faster.
 *
 * <p><b>Outcomes.</b> Each future is completed once: with its result, or with the {@link
 * ErdaException} that {@link ErdaClient} would have thrown. Keys and values are copied before a
 * call returns.
 *
 * <p><b>Order.</b> Puts and deletes of one key take effect in the order in which they were
 * submitted. A get sees the value of the latest put of the same key that was submitted before it,
 * and no put that was submitted after it. If a call returned before another call began, in any
 * thread, its operation was submitted first. Gets of one key that no put or delete separates are
 * under way together: while another client changes the key, the one that was submitted first may
 * see the newer value. Operations on different keys have no order. A put whose {@link
 * ErdaException.OutcomeUnknown} is not final may still take effect after later operations.
 *
 * <p><b>How many.</b> At most {@code pendingMax} operations are pending: submitted and not
 * completed. A further call waits until an operation is completed, at most for the operation
 * time-out; then its future fails with {@link ErdaException.Unavailable}, and nothing was sent. An
 * interrupt ends no wait, and the interrupt status stays set. The client's thread never waits: see
 * below.
 *
 * <p><b>Dependents</b> that are added to a future without an executor may run in the client's
 * thread. They must not block, because that stops the client; in that thread {@code get} and {@code
 * join} of a future that is not completed throw {@link IllegalStateException}. A future that {@link
 * CompletableFuture#allOf} and the like make of several can't do that: a dependent that waits for
 * one stops the client until it is closed. Dependents may submit operations. These operations are
 * counted separately, so that a chain of operations never waits for itself. When {@code pendingMax}
 * of them are pending, the future of a further one fails at once, as above.
 *
 * <p><b>Cancelling</b> a future, or completing it from outside, takes the operation back if it has
 * not begun; then it never takes effect. An operation that has begun goes on, and its outcome is
 * not reported: a cancelled put may or may not take effect.
 *
 * <p><b>Closing.</b> {@link #close()} may be called by any thread. It completes every future: with
 * {@link ErdaException.OutcomeUnknown} for puts and deletes that the server had claimed, or may
 * have claimed; with {@link ErdaException.Unavailable} for all others, which never take effect.
 * From then on calls throw {@link IllegalStateException}. A client that has become unreachable is
 * closed when the garbage collector finds it and no operation is pending, and a warning is logged
 * ({@link ErdaClient}).
 */
public final class ErdaFutures implements AutoCloseable {
  /** How many operations may be pending by default. */
  public static final int PENDING_MAX = 1024;

  private static final int PENDING_LIMIT = 1 << 24;

  private final FutureDriver driver;
  private final Forgotten forgotten;

  private ErdaFutures(FutureDriver driver) {
    this.driver = driver;
    forgotten = Forgotten.watch(this, "a client with futures", driver::abandon);
  }

  /** Submits an operation, and keeps this object reachable until the operation ends. */
  private void submit(FutureOperation operation) {
    try {
      driver.submit(operation);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Begins to connect to a store; does not wait for it. Operations wait for the connection, for the
   * operation time-out at most.
   *
   * @throws ErdaException.BadArgument when the URI can't be parsed, or names a device that this
   *     build does not have
   */
  public static ErdaFutures connect(String uri) {
    return connect(ErdaUri.parse(uri), ClientOptions.DEFAULT, PENDING_MAX);
  }

  /**
   * Begins to connect to a store: see {@link #connect(String)}.
   *
   * @param options {@link ClientOptions#pipelineDepth()} is how many gets, and as many puts and
   *     deletes, are sent at a time
   * @param pendingMax how many operations may be submitted and not completed
   */
  public static ErdaFutures connect(ErdaUri uri, ClientOptions options, int pendingMax) {
    return over(handler -> ErdaAsyncClient.connect(uri, options, handler), options, pendingMax);
  }

  /**
   * Drives a client that the caller makes, for example one of an embedded store.
   *
   * @param connect makes the client with the given handler. It is called in the calling thread;
   *     afterwards the client and its device belong to the thread of this object
   * @param options the options of that client
   */
  public static ErdaFutures over(
      Function<OperationHandler, ErdaAsyncClient> connect, ClientOptions options, int pendingMax) {
    if (pendingMax < 1 || pendingMax > PENDING_LIMIT) {
      throw new ErdaException.BadArgument(
          "at most " + pendingMax + " pending operations; expected 1 to " + PENDING_LIMIT);
    }
    FutureDriver driver = new FutureDriver(options, pendingMax);
    ErdaAsyncClient client = connect.apply(driver.handler());
    driver.start(client, client::wakeup);
    return new ErdaFutures(driver);
  }

  /** The value of a key, or null when it has none. */
  public CompletableFuture<byte[]> get(byte[] key) {
    CompletableFuture<byte[]> future = driver.future();
    submit(new FutureOperation.Get(key.clone(), future));
    return future;
  }

  /**
   * Stores a value. The future is completed when the value survives the failures that the store's
   * promise names.
   */
  public CompletableFuture<Void> put(byte[] key, byte[] value) {
    CompletableFuture<Void> future = driver.future();
    submit(
        new FutureOperation.Put(
            key.clone(), Objects.requireNonNull(value, "value").clone(), future));
    return future;
  }

  /** Stores a value if the key has none. The result is whether it was stored. */
  public CompletableFuture<Boolean> putIfAbsent(byte[] key, byte[] value) {
    return conditional(key, null, Objects.requireNonNull(value, "value"));
  }

  /** Replaces a value if it is the expected one. The result is whether it was replaced. */
  public CompletableFuture<Boolean> compareAndSet(byte[] key, byte[] expected, byte[] value) {
    return conditional(
        key, Objects.requireNonNull(expected, "expected"), Objects.requireNonNull(value, "value"));
  }

  /** Removes a key if it has the expected value. The result is whether it was removed. */
  public CompletableFuture<Boolean> compareAndDelete(byte[] key, byte[] expected) {
    return conditional(key, Objects.requireNonNull(expected, "expected"), null);
  }

  private CompletableFuture<Boolean> conditional(byte[] key, byte[] expected, byte[] value) {
    CompletableFuture<Boolean> future = driver.future();
    submit(
        new FutureOperation.Conditional(
            key.clone(),
            expected == null ? null : expected.clone(),
            value == null ? null : value.clone(),
            future));
    return future;
  }

  /** Removes a key and its value. The result is whether it had one. */
  public CompletableFuture<Boolean> delete(byte[] key) {
    CompletableFuture<Boolean> future = driver.future();
    submit(new FutureOperation.Delete(key.clone(), future));
    return future;
  }

  /** Operations that were submitted and not completed. */
  public int pending() {
    return driver.pending();
  }

  /** Returns the counters of the client. They may be slightly out of date. */
  public ClientStatistics statistics() {
    return driver.statistics();
  }

  /**
   * Ends the connection, completes every future and ends the client's thread. Idempotent. Returns
   * when that is done. When a dependent calls it in the client's thread it returns at once, and the
   * client is closed after the dependent has returned. An interrupt does not end the wait, and the
   * interrupt status stays set. It waits at most 5 s for a dependent that does not return; the
   * client is closed behind that one. In a shutdown hook it does not wait for a dependent that is
   * in {@link System#exit}, and waits for another dependent at most 5 s. Then the end of the
   * process releases the client's resources, and futures that were not completed stay incomplete.
   */
  @Override
  public void close() {
    driver.close();
    forgotten.closed();
  }
}
