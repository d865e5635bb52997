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
 * A client whose operations are futures: any thread may call any method, and one thread of its own
 * drives an {@link ErdaAsyncClient} with all of them. For applications that have many operations
 * under way, or no thread to block; a blocking {@link ErdaClient} in its own thread answers a
 * single get much sooner.
 *
 * <p><b>Outcomes.</b> Each future is completed once: with its result, or with the {@link
 * ErdaException} that {@link ErdaClient} would have thrown. Keys and values are copied before a
 * call returns.
 *
 * <p><b>Order.</b> Operations on one key take effect in the order in which they were submitted,
 * gets too: a get sees what a put of the same key before it stored, and nothing that was submitted
 * after it. What several threads submit has an order when one's call returned before the other's
 * began. Between keys there is no order. After {@link ErdaException.OutcomeUnknown} that is not
 * final a put may still take effect later than others.
 *
 * <p><b>How many.</b> At most {@code pendingMax} operations are submitted and not completed. A call
 * that submits one more waits until another one is completed, for the operation time-out at most;
 * then its future fails with {@link ErdaException.Unavailable}, and nothing was sent. An interrupt
 * ends no wait, and stays set. The client's own thread never waits: see below.
 *
 * <p><b>Dependents</b> that are added without an executor may run in the client's own thread. They
 * must not block, or nothing goes on. They may submit: that does not count as one of {@code
 * pendingMax}, so that a chain never waits for itself; but when as many were submitted there and
 * are not completed, the future fails as above, at once.
 *
 * <p><b>Cancelling</b> a future, or completing it from outside, takes back what was not yet begun
 * with, which then never takes effect. What was begun with goes on, and nobody hears of it: a put
 * that was cancelled may or may not take effect.
 *
 * <p><b>Closing.</b> {@link #close()} may be called by any thread. It completes every future: with
 * {@link ErdaException.OutcomeUnknown} for puts and deletes that the server had claimed, or may
 * have claimed; with {@link ErdaException.Unavailable} for the rest, which never takes effect. From
 * then on calls throw {@link IllegalStateException}. One that is forgotten is closed when the
 * garbage collector finds it and nothing is pending, and the log says so ({@link ErdaClient}).
 */
public final class ErdaFutures implements AutoCloseable {
  /** How many operations are submitted and not completed, where nobody says otherwise. */
  public static final int PENDING_MAX = 1024;

  private static final int PENDING_LIMIT = 1 << 24;

  private final FutureDriver driver;
  private final Forgotten forgotten;

  private ErdaFutures(FutureDriver driver) {
    this.driver = driver;
    forgotten = Forgotten.watch(this, "a client with futures", driver::abandon);
  }

  /** Submits an operation, and keeps this object reachable until that is done. */
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
   * @throws ErdaException.BadArgument when the URI is none, or names a device that this build does
   *     not have
   */
  public static ErdaFutures connect(String uri) {
    return connect(ErdaUri.parse(uri), ClientOptions.DEFAULT, PENDING_MAX);
  }

  /**
   * Begins to connect to a store: see {@link #connect(String)}.
   *
   * @param options {@link ClientOptions#pipelineDepth()} is how many gets, and as many puts and
   *     deletes, are sent at a time
   * @param pendingMax how many operations are submitted and not completed at most
   */
  public static ErdaFutures connect(ErdaUri uri, ClientOptions options, int pendingMax) {
    return over(handler -> ErdaAsyncClient.connect(uri, options, handler), options, pendingMax);
  }

  /**
   * Drives a client that the caller makes, for example one of an embedded store.
   *
   * @param connect makes the client, with the handler it is given, in the calling thread; whatever
   *     it is made of belongs to the client's own thread from then on
   * @param options those of the client
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

  /** Stores a value where none is. Tells whether it did. */
  public CompletableFuture<Boolean> putIfAbsent(byte[] key, byte[] value) {
    return conditional(key, null, Objects.requireNonNull(value, "value"));
  }

  /** Stores a value where a certain other one is. Tells whether it did. */
  public CompletableFuture<Boolean> compareAndSet(byte[] key, byte[] expected, byte[] value) {
    return conditional(
        key, Objects.requireNonNull(expected, "expected"), Objects.requireNonNull(value, "value"));
  }

  /** Removes a key that has a certain value. Tells whether it did. */
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

  /** Removes a key and its value. Tells whether it had one. */
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
   * when that is done; called by a dependent in the client's own thread it returns at once, and is
   * done when the dependent has returned. An interrupt does not end the wait, and stays set. A
   * shutdown hook does not wait for a dependent that is in {@link System#exit}, nor for any other
   * one for more than 5 s: then what the client holds goes with the process, and futures that were
   * not completed stay so.
   */
  @Override
  public void close() {
    driver.close();
    forgotten.closed();
  }
}
