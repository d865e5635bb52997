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
 * Stores many keys, several at a time, for commands that import them. Puts that the server refuses
 * because of a quota are tried again, as long as some succeed.
 */
final class Storing {
  /** Puts several keys, as a client does. */
  interface Puts {
    int putAll(MemorySegment[] keys, MemorySegment[] values, ErdaException[] errors);
  }

  /** How long no put may succeed before the refused ones have failed. */
  static final long REFUSED_NS_MAX = 10_000_000_000L;

  private static final long REFUSED_PAUSE_NS = 1_000_000;
  private static final int KEYS_MAX = 64;
  private static final int BYTES_MAX = 1 << 20;

  private static final class Entry {
    /** The number of the entry in its source, for messages. */
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

  /** How many keys are stored in one call: fewer while a quota refuses some. */
  private int together = KEYS_MAX;

  /**
   * @param what the unit that is counted in the source, for messages
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

  /** Requires that the store is empty, so that no value is overwritten. */
  static void requireEmpty(ErdaClient client) {
    try (KeyCursor keys = client.keys()) {
      if (keys.next()) {
        throw new UserError("the store has keys; --over stores over those that are named, too");
      }
    }
  }

  /**
   * Stores an entry now, or with others a little later.
   *
   * @param number the number of the entry in its source, higher than the one before
   */
  void add(long number, byte[] key, byte[] value) {
    entries.add(new Entry(number, key, value));
    bytes += key.length + value.length;
    if (entries.size() == KEYS_MAX || bytes >= BYTES_MAX) {
      flush();
    }
  }

  /**
   * Stores all added entries.
   *
   * @throws UserError when one can't be stored; all entries added before it are stored
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
   * The refused entries, and later entries of the same keys, which must be stored after them; no
   * entry after one that failed otherwise.
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

  /** The part of a message that tells how many keys were stored before a failure. */
  static String storedBefore(long keys) {
    return "; %,d keys were stored before it".formatted(keys);
  }

  /** The number of stored entries. */
  long stored() {
    return stored;
  }
}
