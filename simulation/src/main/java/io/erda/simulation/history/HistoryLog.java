package io.erda.simulation.history;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.zip.CRC32C;

/**
 * One client process's part of a {@link History}, in a file that survives the process: an operation
 * is in the mapped file before it begins, its result after it ends, so that after {@code kill -9}
 * the file has at least what the dead client knew. See {@code FORMAT.md}.
 *
 * <p>The clock must be common to all processes whose logs are merged, and never go backwards: on
 * one Linux host {@code System::nanoTime} (CLOCK_MONOTONIC) is. Disk space is taken before it is
 * needed, in chunks. One thread at a time, not always the same one: the thread that closes a client
 * is told of operations that another one began.
 */
public final class HistoryLog implements AutoCloseable {
  /** Bytes of a record. */
  public static final int RECORD_BYTES = 48;

  static final int INVOKED = 1;
  static final int OK = 2;
  static final int FAILED = 3;
  static final int MARK = 4;
  static final int EXPECTS = 5;
  static final int UNKNOWN = 6;

  private static final int CHUNK_BYTES = RECORD_BYTES << 15;
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int KIND_OFFSET = 0;
  private static final int OPERATION_OFFSET = 1;
  private static final int CHECKSUM_OFFSET = 4;
  private static final int CLIENT_OFFSET = 8;
  private static final int NUMBER_OFFSET = 12;
  private static final int KEY_OFFSET = 16;
  private static final int VALUE_OFFSET = 24;
  private static final int TIME_OFFSET = 32;
  private static final int POSITION_OFFSET = 40;

  private final FileChannel channel;
  private final LongSupplier nanoTime;
  private final int client;
  private final byte[] bytes = new byte[RECORD_BYTES];
  private final MemorySegment record = MemorySegment.ofArray(new long[RECORD_BYTES / 8]);
  private final CRC32C crc = new CRC32C();
  private Arena arena;
  private MemorySegment chunk;
  private long chunkStart;
  private int at;
  private int number;

  private HistoryLog(FileChannel channel, int client, LongSupplier nanoTime) throws IOException {
    this.channel = channel;
    this.client = client;
    this.nanoTime = nanoTime;
    map();
  }

  /**
   * Begins a log.
   *
   * @param file must not exist; each life of a client has its own
   * @param client the writer; unique among the merged logs, and another one after a restart
   */
  public static HistoryLog create(Path file, int client, LongSupplier nanoTime) throws IOException {
    FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
    try {
      return new HistoryLog(channel, client, nanoTime);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  /** Maps the next chunk. Really writes the zeros, so that no later store finds a full disk. */
  private void map() throws IOException {
    ByteBuffer zeros = ByteBuffer.allocate(CHUNK_BYTES);
    while (zeros.hasRemaining()) {
      channel.write(zeros, chunkStart + zeros.position());
    }
    Arena next = Arena.ofShared();
    chunk = channel.map(FileChannel.MapMode.READ_WRITE, chunkStart, CHUNK_BYTES, next);
    if (arena != null) {
      arena.close();
    }
    arena = next;
    at = 0;
  }

  /**
   * Call before anything of the operation is sent.
   *
   * @param value of a put: its ID, unique among the key's puts of all clients, not 0; else 0
   * @return the operation, for {@link #ok} and {@link #failed}
   */
  public int invoke(OperationKind operation, long key, long value) throws IOException {
    append(INVOKED, operation.ordinal(), ++number, key, value);
    return number;
  }

  /**
   * Call before anything of an operation with a condition is sent.
   *
   * @param value of a put: its ID, unique among the key's puts of all clients, not 0; else 0
   * @param expected the ID of the value that the key must have for it to be done, or {@link
   *     History#ABSENT}
   * @return the operation, for {@link #ok} and {@link #failed}
   */
  public int invokeIf(OperationKind operation, long key, long value, long expected)
      throws IOException {
    append(EXPECTS, 0, number + 1, 0, expected);
    return invoke(operation, key, value);
  }

  /**
   * Call after the operation is done.
   *
   * @param result as for {@link History#ok}
   */
  public void ok(int operation, long result) throws IOException {
    append(OK, 0, operation, 0, result);
  }

  /** Call when the operation is definitely not done, and will not be. */
  public void failed(int operation) throws IOException {
    append(FAILED, 0, operation, 0, 0);
  }

  /** Call when it is unknown whether the operation was done by now, or never will be. */
  public void unknown(int operation) throws IOException {
    append(UNKNOWN, 0, operation, 0, 0);
  }

  /** Records an event of the system for reports: a number whose meaning the reader defines. */
  public void mark(long what) throws IOException {
    append(MARK, 0, 0, 0, what);
  }

  private void append(int kind, int operation, int operationNumber, long key, long value)
      throws IOException {
    if (at == CHUNK_BYTES) {
      chunkStart += CHUNK_BYTES;
      map();
    }
    long position = chunkStart + at;
    record.set(INT, KIND_OFFSET, kind | operation << 8);
    record.set(INT, CHECKSUM_OFFSET, 0);
    record.set(INT, CLIENT_OFFSET, client);
    record.set(INT, NUMBER_OFFSET, operationNumber);
    record.set(LONG, KEY_OFFSET, key);
    record.set(LONG, VALUE_OFFSET, value);
    record.set(LONG, TIME_OFFSET, nanoTime.getAsLong());
    record.set(LONG, POSITION_OFFSET, position / RECORD_BYTES);
    record.set(INT, CHECKSUM_OFFSET, checksum(record, 0));
    MemorySegment.copy(record, 0, chunk, at, RECORD_BYTES);
    at += RECORD_BYTES;
  }

  /** The checksum over the record, with zero in the checksum's place. */
  private int checksum(MemorySegment from, long offset) {
    return checksum(from, offset, bytes, crc);
  }

  private static int checksum(MemorySegment from, long offset, byte[] bytes, CRC32C crc) {
    MemorySegment.copy(from, ValueLayout.JAVA_BYTE, offset, bytes, 0, RECORD_BYTES);
    for (int i = 0; i < Integer.BYTES; i++) {
      bytes[CHECKSUM_OFFSET + i] = 0;
    }
    crc.reset();
    crc.update(bytes, 0, RECORD_BYTES);
    return (int) crc.getValue();
  }

  @Override
  public void close() throws IOException {
    arena.close();
    channel.close();
  }

  /**
   * Reads logs, of living or dead writers, into one history. Each log ends at its first record that
   * is not whole.
   */
  public static History merge(Collection<Path> files) throws IOException {
    History history = new History();
    for (Path file : files) {
      read(file, history);
    }
    return history;
  }

  /** An invocation whose end was not read yet. */
  private record Invocation(
      OperationKind operation, long key, long value, long expected, long time) {
    void endIn(History history, int client, long result, long endTime, Ending outcome) {
      history.addIf(client, operation, key, result, expected, time, endTime, outcome);
    }

    /** The value for a history: for a put the value that was put. */
    long valueAfter(long result) {
      return switch (operation) {
        case PUT -> value;
        case PUT_IF -> result == 0 ? History.ABSENT : value;
        case GET, DELETE, DELETE_IF -> result;
      };
    }
  }

  private static void read(Path file, History history) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
        Arena arena = Arena.ofConfined()) {
      MemorySegment log = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
      Map<Integer, Invocation> open = new HashMap<>();
      Map<Integer, Long> expected = new HashMap<>();
      byte[] bytes = new byte[RECORD_BYTES];
      CRC32C crc = new CRC32C();
      int client = 0;
      for (long at = 0; at + RECORD_BYTES <= log.byteSize(); at += RECORD_BYTES) {
        boolean whole =
            log.get(ValueLayout.JAVA_BYTE, at + KIND_OFFSET) != 0
                && log.get(LONG, at + POSITION_OFFSET) == at / RECORD_BYTES
                && log.get(INT, at + CHECKSUM_OFFSET) == checksum(log, at, bytes, crc);
        if (!whole) {
          break;
        }
        client = log.get(INT, at + CLIENT_OFFSET);
        replay(log.asSlice(at, RECORD_BYTES), client, open, expected, history);
      }
      int owner = client;
      open.values()
          .forEach(it -> it.endIn(history, owner, it.value, History.NEVER, Ending.UNKNOWN));
    }
  }

  /**
   * @param expected the expected values of operations that have not begun, by number of operation
   */
  private static void replay(
      MemorySegment record,
      int client,
      Map<Integer, Invocation> open,
      Map<Integer, Long> expected,
      History history)
      throws IOException {
    int kind = record.get(ValueLayout.JAVA_BYTE, KIND_OFFSET);
    int number = record.get(INT, NUMBER_OFFSET);
    long value = record.get(LONG, VALUE_OFFSET);
    long time = record.get(LONG, TIME_OFFSET);
    switch (kind) {
      case MARK -> history.mark(time, "mark " + value + " by client " + client);
      case EXPECTS -> expected.put(number, value);
      case INVOKED -> {
        OperationKind operation =
            OperationKind.values()[record.get(ValueLayout.JAVA_BYTE, OPERATION_OFFSET)];
        Long expects = expected.remove(number);
        open.put(
            number,
            new Invocation(
                operation,
                record.get(LONG, KEY_OFFSET),
                value,
                expects == null ? History.ABSENT : expects,
                time));
      }
      default -> {
        Invocation it = open.remove(number);
        if (it == null) {
          throw new IOException(
              "operation " + number + " of client " + client + " ended without having begun");
        }
        switch (kind) {
          case OK -> it.endIn(history, client, it.valueAfter(value), time, Ending.OK);
          case FAILED -> it.endIn(history, client, it.value, time, Ending.FAILED);
          case UNKNOWN -> it.endIn(history, client, it.value, time, Ending.UNKNOWN);
          default -> throw new IOException("a record of client " + client + " of kind " + kind);
        }
      }
    }
  }
}
