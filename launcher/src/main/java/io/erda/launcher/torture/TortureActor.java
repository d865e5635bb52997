package io.erda.launcher.torture;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.erda.client.ClientOptions;
import io.erda.client.ErdaClient;
import io.erda.client.ErdaUri;
import io.erda.protocol.ErdaException;
import io.erda.simulation.history.History;
import io.erda.simulation.history.HistoryLog;
import io.erda.simulation.history.Operation;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;

/**
 * One client of the torture: does operations and writes down each before it begins and as it ends.
 * One thread.
 */
final class TortureActor implements AutoCloseable {
  static final ClientOptions OPTIONS =
      ClientOptions.DEFAULT
          .withConnectTimeout(Duration.ofSeconds(2))
          // Longer than a request for space waits for cleaning before the log counts as full.
          .withOperationTimeout(Duration.ofSeconds(6));

  /** How an operation ended. */
  enum Outcome {
    DONE,
    /** Refused for want of space, so without effect. */
    FULL,
    /** It failed, or its outcome is unknown. */
    FAILED
  }

  private final Supplier<ErdaClient> connector;
  private final int client;
  private final HistoryLog history;
  private final MemorySegment[] keys;
  private final MemorySegment value = Arena.ofAuto().allocate(TortureValue.BYTES_MAX, 8);
  private ErdaClient erda;
  private int sequence;

  /** A client of the server at a URI. */
  TortureActor(String uri, int client, int keyCount, HistoryLog history) {
    this(() -> ErdaClient.connect(ErdaUri.parse(uri), OPTIONS), client, keyCount, history);
  }

  /**
   * Any client.
   *
   * @param connector makes one; tried again when nobody is there
   */
  TortureActor(Supplier<ErdaClient> connector, int client, int keyCount, HistoryLog history) {
    this.connector = connector;
    this.client = client;
    this.history = history;
    this.keys = new MemorySegment[keyCount];
    for (int i = 0; i < keyCount; i++) {
      keys[i] = MemorySegment.ofArray(TortureValue.key(i));
    }
  }

  /** Connects unless it is connected; false when nobody is there. */
  boolean connect() {
    if (erda == null) {
      try {
        erda = connector.get();
      } catch (ErdaException.Unavailable | ErdaException.Refused e) {
        // Nobody is there, or another process has the store for itself.
        return false;
      }
    }
    return true;
  }

  /** Does one operation. */
  Outcome step(Operation operation, int key) throws IOException {
    long id = operation == Operation.PUT ? TortureValue.id(client, ++sequence) : 0;
    int length = operation == Operation.PUT ? TortureValue.fill(id, value) : 0;
    int number = history.invoke(operation, key, id);
    try {
      long result =
          switch (operation) {
            case GET -> get(key);
            case PUT -> {
              erda.put(keys[key], value.asSlice(0, length));
              yield id;
            }
            case DELETE -> erda.delete(keys[key]) ? 1 : 0;
          };
      if (result == TortureValue.WRONG) {
        wrong(key, "a get returned bytes that nobody put");
      } else {
        history.ok(number, result);
      }
      return Outcome.DONE;
    } catch (ErdaException.OutcomeUnknown e) {
      return Outcome.FAILED; // as the log says without a word of its end
    } catch (ErdaException.Unavailable | ErdaException.Refused e) {
      history.failed(number);
      return Outcome.FAILED;
    } catch (ErdaException.Full e) {
      // The history says that it had no effect; whoever sees its value contradicts that.
      history.failed(number);
      if (operation == Operation.PUT && e.what() == ErdaException.Full.What.LOG) {
        return Outcome.FULL;
      }
      wrong(key, operation + ": " + e.getMessage());
      return Outcome.DONE;
    } catch (ErdaException.Damaged e) {
      wrong(key, e.getMessage());
      return Outcome.DONE;
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

  /** Asks the server to clean all. */
  void clean() {
    try {
      if (connect()) {
        erda.clean(-1);
      }
    } catch (ErdaException e) {
      // Nothing depends on it.
    }
  }

  private static void wrong(int key, String what) {
    System.out.println("wrong: " + new String(TortureValue.key(key), US_ASCII) + ": " + what);
  }

  private long get(int key) {
    long length = erda.get(keys[key], value);
    return length < 0 ? History.ABSENT : TortureValue.idOf(value, length);
  }

  @Override
  public void close() {
    if (erda != null) {
      erda.close();
    }
  }
}
