package io.erda.launcher.torture;

import io.erda.protocol.ErdaException;
import io.erda.simulation.history.History;
import io.erda.simulation.history.HistoryLog;
import io.erda.simulation.history.Operation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * Operations of one client number, each written down before it begins and as it ends. One thread at
 * a time.
 */
final class ClientLog implements AutoCloseable {
  /** How an operation ended. */
  enum Outcome {
    DONE,
    /** Refused for want of space, so without effect. */
    FULL,
    /** It failed, or its outcome is unknown. */
    FAILED,
    /** Somebody closed the client. */
    CLOSED,
    /** Another thread owns the client. */
    NOT_OWNED
  }

  private final int client;
  private final HistoryLog history;
  private final MemorySegment[] keys;
  private final MemorySegment value = Arena.ofAuto().allocate(TortureValue.BYTES_MAX, 8);
  private int sequence;
  private long id;

  /** Where a client writes what it did. */
  static Path file(Path files, int client) {
    return files.resolve("history-" + client);
  }

  ClientLog(Path files, int client, int keyCount) throws IOException {
    this.client = client;
    this.history = HistoryLog.create(file(files, client), client, System::nanoTime);
    this.keys = new MemorySegment[keyCount];
    for (int i = 0; i < keyCount; i++) {
      keys[i] = MemorySegment.ofArray(TortureValue.key(i));
    }
  }

  /** An operation begins. Returns its number. */
  int begin(Operation operation, int key) {
    id = operation == Operation.PUT ? TortureValue.id(client, ++sequence) : 0;
    try {
      return history.invoke(operation, key, id);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  MemorySegment key(int key) {
    return keys[key];
  }

  /** The ID of the value of the put that began last. */
  long id() {
    return id;
  }

  /** The value of the put that began last. It is overwritten when this is called again. */
  MemorySegment value() {
    return value.asSlice(0, TortureValue.fill(id, value));
  }

  /**
   * An operation is done.
   *
   * @param result as the history wants it
   */
  Outcome done(int number, long result) {
    try {
      history.ok(number, result);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Outcome.DONE;
  }

  /**
   * A get is done.
   *
   * @param from holds the value at its beginning
   * @param length of the value; negative: absent
   */
  Outcome got(int number, int key, MemorySegment from, long length) {
    long result = length < 0 ? History.ABSENT : TortureValue.idOf(from, length);
    if (result == TortureValue.WRONG) {
      Complaint.say(key, "a get returned bytes that nobody put");
      return Outcome.DONE;
    }
    return done(number, result);
  }

  /** An operation was refused, or certainly had no effect: whoever sees its value contradicts. */
  void withoutEffect(int number) {
    try {
      history.failed(number);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** An operation ended in an error. */
  Outcome failed(int number, Operation operation, int key, ErdaException error) {
    return switch (error) {
      // The log says the same when it has no word of an operation's end.
      case ErdaException.OutcomeUnknown _ -> Outcome.FAILED;
      case ErdaException.Unavailable _, ErdaException.Refused _ -> {
        withoutEffect(number);
        yield Outcome.FAILED;
      }
      case ErdaException.Full full -> {
        withoutEffect(number);
        if (operation == Operation.PUT && full.what() == ErdaException.Full.What.LOG) {
          yield Outcome.FULL;
        }
        Complaint.say(key, operation + ": " + error.getMessage());
        yield Outcome.DONE;
      }
      case ErdaException.Damaged _ -> {
        Complaint.say(key, error.getMessage());
        yield Outcome.DONE;
      }
      default -> throw error;
    };
  }

  @Override
  public void close() throws IOException {
    history.close();
  }
}
