package io.erda.eval.baselines;

import io.erda.hashtable.HashTable;
import io.erda.hashtable.KeyProbe;
import io.erda.logstore.ObjectLayout;
import java.lang.foreign.MemorySegment;

/**
 * The destination of objects: the hash table, whose words are addresses, and the slab. One thread.
 * Borrows both.
 *
 * <p>A batch is applied in two halves with a drain after each: objects and key words, then the
 * words that name them. So no durable word ever names an object that is not durable, and a slot is
 * reused only when the word that named it is durably gone. An update in place may be torn by a
 * crash, and is repeated from the log.
 */
final class Destination {
  /** The most records of a batch. */
  static final int BATCH = 32;

  /** Work of the second half for a record. */
  private static final int NOTHING = 0;

  private static final int INSERT = 1;
  private static final int MOVE = 2;
  private static final int EMPTY = 3;

  private final HashTable table;
  private final Slab slab;

  private final int[] steps = new int[BATCH];
  private final long[] keyWords = new long[BATCH];
  private final long[] staged = new long[BATCH];
  private final long[] addressesBefore = new long[BATCH];
  private final long[] addresses = new long[BATCH];
  private int count;

  private final KeyProbe probe = this::isKey;
  private MemorySegment key;
  private long keyAt;
  private int keyLength;

  Destination(HashTable table, Slab slab) {
    this.table = table;
    this.slab = slab;
    table.forEach((slot, keyWord, address) -> slab.markUsed(address));
    slab.allMarked();
  }

  HashTable table() {
    return table;
  }

  Slab slab() {
    return slab;
  }

  /** The address of a key's object, or 0. */
  long find(long keyWord, MemorySegment keyMemory, long at, int length) {
    long slot = slot(keyWord, keyMemory, at, length);
    return slot == HashTable.NONE ? 0 : table.versionWord(slot);
  }

  private long slot(long keyWord, MemorySegment keyMemory, long at, int length) {
    key = keyMemory;
    keyAt = at;
    keyLength = length;
    return table.find(keyWord, probe);
  }

  private boolean isKey(long slot, long address) {
    return slab.hasKey(address, key, keyAt, keyLength);
  }

  /**
   * Does the first half of one record. A batch has at most one record of a key; at most {@link
   * #BATCH} between two {@link #commit}.
   *
   * @param object a whole object of {@link ObjectLayout}
   */
  void apply(long keyWord, MemorySegment records, long object) {
    int keyBytes = ObjectLayout.keyLength(records, object);
    long keyFrom = object + ObjectLayout.KEY_OFFSET;
    long slot = slot(keyWord, records, keyFrom, keyBytes);
    long before = slot == HashTable.NONE ? 0 : table.versionWord(slot);
    if (ObjectLayout.tombstone(records, object)) {
      add(before == 0 ? NOTHING : EMPTY, keyWord, HashTable.NONE, before, 0);
      return;
    }
    int valueBytes = ObjectLayout.valueLength(records, object);
    int bytes = Slab.HEADER_BYTES + keyBytes + valueBytes;
    if (before != 0 && slab.slotBytesAt(before) >= bytes) {
      slab.update(before, keyBytes, valueBytes, records, keyFrom + keyBytes);
      return;
    }
    long address = slab.allocate(bytes);
    if (address == 0) {
      throw new IllegalStateException("the slab is full of what was acknowledged");
    }
    slab.put(address, keyBytes, valueBytes, records, keyFrom);
    if (before != 0) {
      add(MOVE, keyWord, HashTable.NONE, before, address);
    } else {
      add(INSERT, keyWord, table.stage(keyWord), 0, address);
    }
  }

  private void add(int step, long keyWord, long slot, long before, long address) {
    if (step == NOTHING) {
      return;
    }
    steps[count] = step;
    keyWords[count] = keyWord;
    staged[count] = slot;
    addressesBefore[count] = before;
    addresses[count] = address;
    count++;
  }

  /**
   * Does the second half of all records, after the first half was drained; durable when it returns.
   */
  void commit() {
    slab.drain();
    if (count == 0) {
      return;
    }
    table.drain();
    for (int i = 0; i < count; i++) {
      // Staged entries first, because another insertion would clear them.
      if (steps[i] == INSERT
          && staged[i] != HashTable.NONE
          && table.insertStaged(staged[i], keyWords[i], addresses[i])) {
        steps[i] = NOTHING;
      }
    }
    for (int i = 0; i < count; i++) {
      switch (steps[i]) {
        case INSERT -> insert(keyWords[i], addresses[i]);
        case MOVE -> {
          table.storeWord(
              slotOf(keyWords[i], addressesBefore[i]),
              keyWords[i],
              addressesBefore[i],
              addresses[i]);
          slab.free(addressesBefore[i]);
        }
        case EMPTY -> {
          table.empty(slotOf(keyWords[i], addressesBefore[i]), keyWords[i], addressesBefore[i]);
          slab.free(addressesBefore[i]);
        }
        default -> {
          // Done above.
        }
      }
    }
    count = 0;
    table.drain();
  }

  private void insert(long keyWord, long address) {
    if (table.insert(keyWord, address) == HashTable.NONE) {
      throw new IllegalStateException(
          "no room in the neighbourhood of a key, with "
              + table.size()
              + " entries in "
              + table.buckets()
              + " buckets");
    }
  }

  /** The current slot of an entry, which an insertion may have moved. */
  private long slotOf(long keyWord, long address) {
    return table.find(keyWord, (slot, word) -> word == address);
  }
}
