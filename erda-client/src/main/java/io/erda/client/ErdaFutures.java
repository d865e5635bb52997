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
 * A client whose operations return futures. Any thread may call any method; one thread of the
 * client's own drives an {@link ErdaAsyncClient}. For applications that have many operations under
 * way, or no thread to block; a blocking {@link ErdaClient} in its own thread answers a single get
 * much sooner.
 *
 * <p><b>Outcomes.</b> Each future is completed once: with its result, or with the {@link
 * ErdaException} that {@link ErdaClient} would have thrown. Keys and values are copied before a
 * call returns.
 *
 * <p><b>Order.</b> Operations on one key take effect in the order in which they were submitted,
 * gets too: a get sees the value of the latest put of the same key that was submitted before it,
 * and none submitted after it. A call that returned before another one began, in any thread, was
 * submitted before it. Between keys there is no order. After {@link ErdaException.OutcomeUnknown}
 * that is not final a put may still take effect later than others.
 *
 * <p><b>How many.</b> At most {@code pendingMax} operations are pending: submitted and not
 * completed. A further call waits until one is completed, for the operation time-out at most; then
 * its future fails with {@link ErdaException.Unavailable}, and nothing was sent. An interrupt ends
 * no wait, and stays set. The client's own thread never waits: see below.
 *
 * <p><b>Dependents</b> that are added without an executor may run in the client's own thread. They
 * must not block, because that stops the client. They may submit: these operations are counted
 * apart from the others, so that a chain never waits for itself; when {@code pendingMax} of them
 * are pending a further future fails as above, at once.
 *
 * <p><b>Cancelling</b> a future, or completing it from outside, takes the operation back if it has
 * not begun; then it never takes effect. An operation that has begun goes on, and its outcome is
 * not reported: a cancelled put may or may not take effect.
 *
 * <p><b>Closing.</b> {@link #close()} may be called by any thread. It completes every future: with
 * {@link ErdaException.OutcomeUnknown} for puts and deletes that the server had claimed, or may
 * have claimed; with {@link ErdaException.Unavailable} for the rest, which never takes effect. From
 * then on calls throw {@link IllegalStateException}. A client that nobody can reach any more is
 * closed when the garbage collector finds it and nothing is pending, and a warning is logged
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
   * @param connect makes the client, with the handler it is given, in the calling thread; its
   *     device and all else it is made of belong to the client's own thread from then on
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
    CompletableFuture<byte[]> future = new CompletableFuture<>();
    submit(new FutureOperation.Get(key.clone(), future));
    return future;
  }

  /** Stores a value. Completed when it has the promise of the store. */
  public CompletableFuture<Void> put(byte[] key, byte[] value) {
    CompletableFuture<Void> future = new CompletableFuture<>();
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
    CompletableFuture<Boolean> future = new CompletableFuture<>();
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
    CompletableFuture<Boolean> future = new CompletableFuture<>();
    submit(new FutureOperation.Delete(key.clone(), future));
    return future;
  }

  /** Operations that were submitted and not completed. */
  public int pending() {
    return driver.pending();
  }

  /** The counters of the client, as they were a moment ago. */
  public ClientStatistics statistics() {
    return driver.statistics();
  }

  /**
   * Ends the connection, completes every future and ends the client's thread. Idempotent. Returns
   * when that is done; when a dependent calls it in the client's own thread it returns at once, and
   * the client is closed after the dependent has returned. An interrupt does not end the wait, and
   * stays set. A shutdown hook does not wait for a dependent that is in {@link System#exit}, nor
   * for another one for more than 5 s: then the end of the process releases what the client holds,
   * and futures that were not completed stay so.
   */
  @Override
  public void close() {
    driver.close();
    forgotten.closed();
  }
}
