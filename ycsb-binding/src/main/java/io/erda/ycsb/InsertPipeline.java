package io.erda.ycsb;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaAsyncClient;
import io.erda.client.ErdaUri;
import io.erda.client.OperationHandler;
import io.erda.protocol.ErdaException;
import java.lang.foreign.MemorySegment;

/**
 * The batched inserts of one YCSB thread: up to a number of them are in flight on a connection of
 * their own. Their ends are noticed in a later call. Failures are told to a listener, and counted
 * until the count is taken. One thread.
 */
final class InsertPipeline implements AutoCloseable {
  /** Receives each insert that failed after it was submitted. */
  interface FailureListener {
    void onInsertFailed(String table, String key, ErdaException error);
  }

  /**
   * The number of idle turns before a sleep. A turn with its yield takes some hundred nanoseconds,
   * so these turns take about as long as a sleep and its wake-up.
   */
  private static final int IDLE_TURNS_MAX = 128;

  /** A sleep is bounded, because time-outs of inserts are checked between two sleeps. */
  private static final long AWAIT_NS = 100_000_000;

  private final ErdaAsyncClient client;
  private final FailureListener listener;

  /** The tables of the inserts in flight, by token. */
  private final String[] tables;

  private final String[] keys;

  /** A stack: its first {@link #freeCount} elements are the tokens that are not in use. */
  private final int[] freeTokens;

  private int freeCount;
  private int failures;
  private int idleTurns;

  /**
   * Begins to connect; does not wait for it.
   *
   * @param depth the most inserts in flight
   */
  InsertPipeline(String uri, int depth, FailureListener listener) {
    this.listener = listener;
    tables = new String[depth];
    keys = new String[depth];
    freeTokens = new int[depth];
    for (int token = 0; token < depth; token++) {
      freeTokens[freeCount++] = token;
    }
    client =
        ErdaAsyncClient.connect(
            ErdaUri.parse(uri), ClientOptions.DEFAULT.withPipelineDepth(depth), new Outcomes());
  }

  /**
   * Waits for room, and submits an insert. Its memory may be reused when this returns.
   *
   * @throws ErdaException.BadSize when the store does not take it; nothing is submitted then
   */
  void submit(String table, String key, MemorySegment erdaKey, MemorySegment value) {
    while (freeCount == 0) {
      turn();
    }
    int token = freeTokens[freeCount - 1];
    if (!client.put(token, erdaKey, value)) {
      throw new IllegalStateException(
          "no room for a put, with " + client.inFlight() + " in flight");
    }
    freeCount--;
    tables[token] = table;
    keys[token] = key;
  }

  /** Notices inserts that have ended, without waiting. */
  void hear() {
    client.doWork();
  }

  /** Returns when nothing is in flight. The time of an operation, and so of this, is bounded. */
  void finish() {
    while (client.inFlight() > 0) {
      turn();
    }
  }

  /** How many inserts have failed since the last call. */
  int takeFailures() {
    int taken = failures;
    failures = 0;
    return taken;
  }

  /** Ends with an error the inserts that are still in flight. */
  @Override
  public void close() {
    client.close();
  }

  private void turn() {
    if (client.doWork() > 0) {
      idleTurns = 0;
    } else if (++idleTurns < IDLE_TURNS_MAX) {
      Thread.yield();
    } else {
      client.await(AWAIT_NS);
      idleTurns = 0;
    }
  }

  private void free(long token) {
    freeTokens[freeCount++] = (int) token;
  }

  private final class Outcomes implements OperationHandler {
    @Override
    public void onPut(long token) {
      free(token);
    }

    @Override
    public void onError(long token, ErdaException error) {
      free(token);
      failures++;
      listener.onInsertFailed(tables[(int) token], keys[(int) token], error);
    }

    @Override
    public void onGet(long token, MemorySegment memory, long offset, long length) {
      throw new IllegalStateException("a get, where only puts are submitted");
    }

    @Override
    public void onDelete(long token, boolean existed) {
      throw new IllegalStateException("a delete, where only puts are submitted");
    }
  }
}
