package io.erda.launcher.commands;

import io.erda.client.ErdaClient;
import io.erda.client.KeyCursor;
import io.erda.console.UserError;
import io.erda.protocol.ErdaException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Stores many keys, several at a time, for the commands that bring them from elsewhere. What the
 * server refuses for a quota is tried again, for as long as some of it gets through.
 */
final class Storing {
  /** Puts several keys, as a client does. */
  interface Puts {
    int putAll(MemorySegment[] keys, MemorySegment[] values, ErdaException[] errors);
  }

  /** For so long nothing gets through before what was refused has failed. */
  static final long REFUSED_NS_MAX = 10_000_000_000L;

  private static final long REFUSED_PAUSE_NS = 1_000_000;
  private static final int KEYS_MAX = 64;
  private static final int BYTES_MAX = 1 << 20;

  private static final class Entry {
    /** Which one it is where it comes from, for messages. */
    private final long number;

    private final byte[] key;
    private final byte[] value;
    private ErdaException error;
    private boolean stored;

    private Entry(long number, byte[] key, byte[] value) {
      this.number = number;
      this.key = key;
      this.value = value;
    }

    private void outcome(ErdaException error) {
      this.error = error;
      stored = error == null;
    }

    private boolean isRefused() {
      return error instanceof ErdaException.Full full
          && full.what() == ErdaException.Full.What.QUOTA;
    }
  }

  private final Puts puts;
  private final String what;
  private final LongSupplier nanoTime;
  private final LongConsumer sleepNs;
  private final List<Entry> entries = new ArrayList<>();
  private long bytes;
  private long stored;

  /** Keys in one call: fewer while a quota refuses some, so that few are refused. */
  private int together = KEYS_MAX;

  /**
   * @param what is counted where the keys come from, for messages
   */
  Storing(ErdaClient client, String what) {
    this(client::putAll, what, System::nanoTime, LockSupport::parkNanos);
  }

  Storing(Puts puts, String what, LongSupplier nanoTime, LongConsumer sleepNs) {
    this.puts = puts;
    this.what = what;
    this.nanoTime = nanoTime;
    this.sleepNs = sleepNs;
  }

  /** What would be stored over is somebody's. */
  static void requireEmpty(ErdaClient client) {
    try (KeyCursor keys = client.keys()) {
      if (keys.next()) {
        throw new UserError("the store has keys; --over stores over those that are named, too");
      }
    }
  }

  /**
   * Stores it now, or with others a little later.
   *
   * @param number which one it is where it comes from, more than the one before
   */
  void add(long number, byte[] key, byte[] value) {
    entries.add(new Entry(number, key, value));
    bytes += key.length + value.length;
    if (entries.size() == KEYS_MAX || bytes >= BYTES_MAX) {
      flush();
    }
  }

  /**
   * Stores what was added.
   *
   * @throws UserError when some of it can't be stored; all that was added before that is stored
   */
  void flush() {
    List<Entry> left = new ArrayList<>(entries);
    long progressNs = nanoTime.getAsLong();
    while (!left.isEmpty()) {
      List<Entry> round = left.subList(0, Math.min(together, left.size()));
      int tried = round.size();
      put(round);
      List<Entry> again = toTryAgain(round);
      boolean failed = round.stream().anyMatch(entry -> !entry.stored && !entry.isRefused());
      if (again.isEmpty()) {
        together = Math.min(KEYS_MAX, 2 * together);
      } else {
        together = Math.max(1, tried - again.size());
      }
      if (again.size() < tried) {
        progressNs = nanoTime.getAsLong();
      } else if (nanoTime.getAsLong() - progressNs > REFUSED_NS_MAX) {
        break;
      } else {
        sleepNs.accept(REFUSED_PAUSE_NS);
      }
      if (failed) {
        left = again;
      } else {
        round.clear();
        left.addAll(0, again);
      }
    }
    requireStored();
    stored += entries.size();
    entries.clear();
    bytes = 0;
  }

  private void put(List<Entry> round) {
    MemorySegment[] keys = new MemorySegment[round.size()];
    MemorySegment[] values = new MemorySegment[round.size()];
    ErdaException[] errors = new ErdaException[round.size()];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = MemorySegment.ofArray(round.get(i).key);
      values[i] = MemorySegment.ofArray(round.get(i).value);
    }
    puts.putAll(keys, values, errors);
    for (int i = 0; i < keys.length; i++) {
      round.get(i).outcome(errors[i]);
    }
  }

  /**
   * What was refused, with later values of the same keys, which are to be stored behind it. Nothing
   * behind what failed otherwise.
   */
  private static List<Entry> toTryAgain(List<Entry> round) {
    List<Entry> again = new ArrayList<>();
    Set<ByteBuffer> keys = new HashSet<>();
    for (Entry entry : round) {
      if (entry.isRefused()) {
        keys.add(ByteBuffer.wrap(entry.key));
        again.add(entry);
      } else if (!entry.stored) {
        return again;
      } else if (!keys.isEmpty() && keys.contains(ByteBuffer.wrap(entry.key))) {
        again.add(entry);
      }
    }
    return again;
  }

  private void requireStored() {
    int before = 0;
    while (before < entries.size() && entries.get(before).stored) {
      before++;
    }
    if (before == entries.size()) {
      return;
    }
    Entry first = entries.get(before);
    long behind = entries.stream().skip(before).filter(entry -> entry.stored).count();
    throw new UserError(
        "%s %d: %s%s%s"
            .formatted(
                what,
                first.number,
                first.error.getMessage(),
                storedBefore(stored + before),
                behind == 0 ? "" : ", and %,d behind it".formatted(behind)),
        1,
        first.error);
  }

  /** How a message says that a number of keys was stored before what failed. */
  static String storedBefore(long keys) {
    return "; %,d keys were stored before it".formatted(keys);
  }

  /** How many were stored. */
  long stored() {
    return stored;
  }
}
