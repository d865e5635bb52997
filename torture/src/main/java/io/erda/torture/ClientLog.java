package io.erda.torture;

import io.erda.protocol.ErdaException;
import io.erda.simulation.history.History;
import io.erda.simulation.history.HistoryLog;
import io.erda.simulation.history.OperationKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * Records the operations of one client number, each before it begins and when it ends. One thread
 * at a time.
 */
final class ClientLog implements AutoCloseable {
  /** How an operation ended. */
  enum Outcome {
    DONE,
    /** The operation was refused for lack of space, without effect. */
    FULL,
    /** The operation failed, or its outcome is unknown. */
    FAILED,
    /** Another thread, or a handler, closed the client. */
    CLOSED,
    /** Another thread owns the client. */
    NOT_OWNED
  }

  /**
   * An operation that has begun.
   *
   * @param number in the history
   * @param id the ID of the value that it puts; 0 when it puts none
   * @param expected the ID of the expected value of its key, or {@link History#ABSENT}
   */
  record Begun(int number, OperationKind operation, int key, long id, long expected) {}

  /** One in so many puts with a condition expects no value, whatever was read before. */
  private static final int ABSENT_ODDS = 8;

  private final int client;
  private final HistoryLog history;
  private final MemorySegment[] keys;

  /** By key: the ID of the value that was last read or put, which a condition expects. */
  private final long[] seen;

  private final MemorySegment value = Arena.ofAuto().allocate(TortureValue.BYTES_MAX, 8);
  private final MemorySegment expected = Arena.ofAuto().allocate(TortureValue.BYTES_MAX, 8);
  private int sequence;

  /** The file of a client's history. */
  static Path file(Path files, int client) {
    return files.resolve("history-" + client);
  }

  ClientLog(Path files, int client, int keyCount) throws IOException {
    this.client = client;
    this.history = HistoryLog.create(file(files, client), client, System::nanoTime);
    this.keys = new MemorySegment[keyCount];
    this.seen = new long[keyCount];
    for (int i = 0; i < keyCount; i++) {
      keys[i] = MemorySegment.ofArray(TortureValue.key(i));
    }
  }

  /** Records the beginning of an operation. A condition expects the last known value of the key. */
  Begun begin(OperationKind operation, int key) {
    long id = operation.puts() ? newId() : 0;
    long expects = operation.isConditional() ? expectation(operation, key) : History.ABSENT;
    try {
      int number =
          operation.isConditional()
              ? history.invokeIf(operation, key, id, expects)
              : history.invoke(operation, key, id);
      return new Begun(number, operation, key, id, expects);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private long newId() {
    return TortureValue.id(client, ++sequence);
  }

  private long expectation(OperationKind operation, int key) {
    if (operation == OperationKind.PUT_IF && sequence % ABSENT_ODDS == 0) {
      return History.ABSENT;
    }
    // A conditional delete without a known value expects a value that was never put.
    return seen[key] != History.ABSENT || operation == OperationKind.PUT_IF ? seen[key] : newId();
  }

  MemorySegment key(int key) {
    return keys[key];
  }

  /** The value of a put. The next call overwrites it. */
  MemorySegment value(Begun put) {
    return value.asSlice(0, TortureValue.fill(put.id(), value));
  }

  /** The expected value, which must exist. The next call overwrites it. */
  MemorySegment expected(Begun it) {
    return expected.asSlice(0, TortureValue.fill(it.expected(), expected));
  }

  /**
   * Records that an operation is done, or its condition did not hold.
   *
   * @param result in the history's form
   */
  Outcome done(Begun it, long result) {
    try {
      history.ok(it.number(), result);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    switch (it.operation()) {
      case GET -> seen[it.key()] = result;
      case PUT -> seen[it.key()] = it.id();
      case DELETE -> seen[it.key()] = History.ABSENT;
      case PUT_IF, DELETE_IF -> {
        if (result != 0) {
          seen[it.key()] = it.id();
        }
      }
    }
    return Outcome.DONE;
  }

  /**
   * Records that a get is done.
   *
   * @param from holds the value at its beginning
   * @param length of the value; negative: absent
   */
  Outcome got(Begun get, MemorySegment from, long length) {
    long result = length < 0 ? History.ABSENT : TortureValue.idOf(from, length);
    if (result == TortureValue.WRONG) {
      Complaint.say(get.key(), "a get returned bytes that nobody put");
      return Outcome.DONE;
    }
    return done(get, result);
  }

  /**
   * Records that an operation was refused, or certainly had no effect: a read of its value is then
   * a violation.
   */
  void withoutEffect(Begun it) {
    try {
      history.failed(it.number());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Records that the outcome is unknown; without a recorded end the operation may still take
   * effect.
   */
  private void unknown(Begun it, boolean last) {
    if (last) {
      try {
        history.unknown(it.number());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Records that an operation failed. */
  Outcome failed(Begun it, ErdaException error) {
    return switch (error) {
      case ErdaException.OutcomeUnknown unknown -> {
        unknown(it, unknown.isFinal());
        yield Outcome.FAILED;
      }
      case ErdaException.Unavailable _, ErdaException.Refused _ -> {
        withoutEffect(it);
        yield Outcome.FAILED;
      }
      case ErdaException.Full full -> {
        withoutEffect(it);
        if (needsSpace(it.operation()) && full.what() == ErdaException.Full.What.LOG) {
          yield Outcome.FULL;
        }
        Complaint.say(it.key(), it.operation() + ": " + error.getMessage());
        yield Outcome.DONE;
      }
      case ErdaException.Damaged _ -> {
        Complaint.say(it.key(), error.getMessage());
        yield Outcome.DONE;
      }
      default -> throw error;
    };
  }

  /**
   * Whether an operation needs space: a delete works in a full log, but a conditional one need not.
   */
  private static boolean needsSpace(OperationKind operation) {
    return operation.puts() || operation == OperationKind.DELETE_IF;
  }

  @Override
  public void close() throws IOException {
    history.close();
  }
}
