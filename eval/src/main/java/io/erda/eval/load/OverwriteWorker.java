package io.erda.eval.load;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SplittableRandom;
import site.ycsb.generator.ScrambledZipfianGenerator;

/**
 * A process that overwrites its share of a store's keys, and records in a mapped file, which
 * outlives it, the version of each key that it has begun to put and the last acknowledged one. When
 * it starts it checks that the store has a whole version between the two for each key.
 *
 * <p>It communicates by lines: it writes {@code checked N} after the check; after {@code run N} it
 * puts N times and writes {@code ran}; after {@code check} it checks again. An error ends it with
 * exit code 1.
 */
public final class OverwriteWorker {
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

  /** Number of puts of all lives, at the file's beginning; followed by two words for each key. */
  private static final long DONE_AT = 0;

  private static final long KEYS_AT = 8;
  private static final long RETRY_MS = 10;
  private static final long RETRIES_MAX = 6000;

  private final ErdaClient client;
  private final MemorySegment file;
  private final int worker;
  private final int keys;
  private final MemorySegment key = Arena.ofAuto().allocate(Overwriter.KEY_BYTES, 8);
  private final MemorySegment value;
  private final MemorySegment into;
  private final SplittableRandom random = new SplittableRandom(System.nanoTime());
  private final ScrambledZipfianGenerator zipfian;

  private OverwriteWorker(
      ErdaClient client,
      MemorySegment file,
      int worker,
      int keys,
      int valueBytes,
      boolean isZipfian) {
    this.client = client;
    this.file = file;
    this.worker = worker;
    this.keys = keys;
    this.value = Arena.ofAuto().allocate(valueBytes, 8);
    this.into = Arena.ofAuto().allocate(valueBytes, 8);
    this.zipfian = isZipfian ? new ScrambledZipfianGenerator(0, keys - 1) : null;
  }

  /** Length of the record file of a worker with this number of keys. */
  public static long fileBytes(int keys) {
    return KEYS_AT + 16L * keys;
  }

  /** Number of puts done by all lives of a worker, from its record file. */
  public static long done(MemorySegment file) {
    return file.get(LONG, DONE_AT);
  }

  /** Merges a worker's file of an earlier moment with one of a later moment. */
  static void remember(MemorySegment file, MemorySegment earlier, MemorySegment later) {
    file.copyFrom(later);
    for (long at = KEYS_AT; at < file.byteSize(); at += 16) {
      file.set(LONG, at + 8, earlier.get(LONG, at + 8));
    }
  }

  /** Arguments: URI, file, number of the worker, its keys, bytes of a value, zipfian or uniform. */
  public static void main(String[] arguments) throws IOException {
    int keys = Integer.parseInt(arguments[3]);
    try (ErdaClient client = ErdaClient.connect(arguments[0]);
        Arena arena = Arena.ofConfined();
        FileChannel channel =
            FileChannel.open(
                Path.of(arguments[1]), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      MemorySegment file = channel.map(FileChannel.MapMode.READ_WRITE, 0, fileBytes(keys), arena);
      OverwriteWorker worker =
          new OverwriteWorker(
              client,
              file,
              Integer.parseInt(arguments[2]),
              keys,
              Integer.parseInt(arguments[4]),
              arguments[5].equals("zipfian"));
      worker.check();
      worker.serve();
    } catch (ErdaException e) {
      System.err.println(e.getMessage());
      System.exit(1);
    }
  }

  private void serve() throws IOException {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      if (line.equals("check")) {
        check();
      } else {
        run(Long.parseLong(line.substring("run ".length())));
        System.out.println("ran");
      }
    }
  }

  private long begunAt(int number) {
    return KEYS_AT + 16L * number;
  }

  private long acknowledgedAt(int number) {
    return begunAt(number) + 8;
  }

  private void setKey(int number) {
    key.set(LONG, 0, worker);
    key.set(LONG, 8, number);
  }

  /** Sets the value: the version, followed by words determined by it. */
  private void setValue(MemorySegment memory, int number, long version) {
    memory.set(LONG, 0, version);
    SplittableRandom words = new SplittableRandom(version * 31 + number);
    for (long at = 8; at + 8 <= memory.byteSize(); at += 8) {
      memory.set(LONG, at, words.nextLong());
    }
  }

  private void run(long puts) {
    for (long i = 0; i < puts; i++) {
      int number = zipfian == null ? random.nextInt(keys) : zipfian.nextValue().intValue();
      put(number);
    }
  }

  private void put(int number) {
    long version = file.get(LONG, begunAt(number)) + 1;
    setKey(number);
    setValue(value, number, version);
    file.set(LONG, begunAt(number), version);
    if (puts()) {
      file.set(LONG, acknowledgedAt(number), version);
    }
    file.set(LONG, DONE_AT, file.get(LONG, DONE_AT) + 1);
  }

  /**
   * Puts. Returns whether it was acknowledged; otherwise the outcome is unknown, or the store is
   * full. Waits for a server that is gone.
   */
  private boolean puts() {
    for (long tries = 0; ; tries++) {
      try {
        client.put(key, value);
        return true;
      } catch (ErdaException.OutcomeUnknown e) {
        return false;
      } catch (ErdaException.Full e) {
        pause();
        return false;
      } catch (ErdaException.Unavailable e) {
        if (tries == RETRIES_MAX) {
          throw e;
        }
        pause();
      }
    }
  }

  private static void pause() {
    try {
      Thread.sleep(RETRY_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void check() {
    MemorySegment expected = Arena.ofAuto().allocate(value.byteSize(), 8);
    for (int number = 0; number < keys; number++) {
      long begun = file.get(LONG, begunAt(number));
      long acknowledged = file.get(LONG, acknowledgedAt(number));
      setKey(number);
      long length = get();
      long version = length < 0 ? 0 : into.get(LONG, 0);
      if (version < acknowledged || version > begun) {
        wrong(
            "key %d of worker %d has version %d, acknowledged was %d, begun %d"
                .formatted(number, worker, version, acknowledged, begun));
      }
      if (length >= 0) {
        setValue(expected, number, version);
        if (length != expected.byteSize() || into.mismatch(expected) >= 0) {
          wrong(
              "key %d of worker %d: version %d is not what was put"
                  .formatted(number, worker, version));
        }
      }
      file.set(LONG, acknowledgedAt(number), version);
    }
    System.out.println("checked " + keys);
  }

  private long get() {
    for (long tries = 0; ; tries++) {
      try {
        return client.get(key, into);
      } catch (ErdaException.Unavailable e) {
        if (tries == RETRIES_MAX) {
          throw e;
        }
        pause();
      }
    }
  }

  private static void wrong(String what) {
    System.err.println(what);
    System.exit(1);
  }
}
