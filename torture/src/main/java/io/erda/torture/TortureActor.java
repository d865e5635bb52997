package io.erda.torture;

import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.protocol.ErdaException;
import io.erda.simulation.history.OperationKind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/** One blocking client of the torture, which only its thread uses and closes. */
final class TortureActor implements AutoCloseable {
  private final Supplier<ErdaClient> connector;
  private final BlockingCaller caller;
  private volatile ErdaClient erda;
  private volatile String late = "";

  /** A client of the server at a URI. */
  TortureActor(String uri, Path files, int client, int keyCount, Watchdog watchdog)
      throws IOException {
    this(
        () -> ErdaClient.connect(ErdaUri.parse(uri), Watchdog.OPTIONS),
        files,
        client,
        keyCount,
        watchdog);
  }

  /**
   * A client.
   *
   * @param connector makes it; called again while there is no server
   */
  TortureActor(
      Supplier<ErdaClient> connector, Path files, int client, int keyCount, Watchdog watchdog)
      throws IOException {
    this.connector = connector;
    this.caller = new BlockingCaller(files, client, keyCount, watchdog);
  }

  /** Connects unless it is connected; false when there is no server. */
  boolean connect() {
    if (erda == null) {
      try {
        erda = connector.get();
      } catch (ErdaException.Unavailable | ErdaException.Refused e) {
        // There is no server, or another process has the store for itself.
        return false;
      }
    }
    return true;
  }

  /** Does one operation. */
  ClientLog.Outcome call(OperationKind operation, int key) {
    return ofThisThread(caller.call(erda, operation, key));
  }

  /**
   * Does one step: see {@link BlockingCaller#step}.
   *
   * @param keys that are in use now
   */
  ClientLog.Outcome step(SplittableRandom random, int keys, boolean readsOnly) {
    return ofThisThread(caller.step(erda, random, keys, readsOnly));
  }

  private ClientLog.Outcome ofThisThread(ClientLog.Outcome outcome) {
    if (outcome == ClientLog.Outcome.CLOSED || outcome == ClientLog.Outcome.NOT_OWNED) {
      throw new IllegalStateException(
          late.isEmpty() ? "a client that only this thread uses is " + outcome : late);
    }
    return outcome;
  }

  /** Ends a late call, from another thread: it throws, and its message names the call. */
  void endLate(String what) {
    late = what;
    ErdaClient client = erda;
    if (client != null) {
      client.close();
    }
  }

  /** The server's figures, or null when it does not answer. */
  Map<String, Long> figures() {
    try {
      return connect() ? erda.stats() : null;
    } catch (ErdaException e) {
      return null;
    }
  }

  /** Asks the server to clean all heads. */
  void clean() {
    try {
      if (connect()) {
        erda.clean(-1);
      }
    } catch (ErdaException e) {
      // A failure does not matter.
    }
  }

  @Override
  public void close() throws IOException {
    if (erda != null) {
      erda.close();
    }
    caller.close();
  }
}
