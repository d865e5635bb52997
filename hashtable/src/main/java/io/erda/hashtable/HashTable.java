package io.erda.hashtable;

import io.erda.pmem.PersistentMemory;

/**
 * The hopscotch table, server's side: the only writer of its memory. See {@code FORMAT.md}. One thread. Borrows its memory.
 *
 * <p>The neighbourhood of bucket b is the contiguous entries [b, b + neighbourhood); the table is padded, there is no wrap. A slot is the
 * index of an entry. A key lies in the neighbourhood of its home bucket, or not in the table.
 */
public final class HashTable {
  /** No slot: not found, or no room. */
  public static final long NONE = -1;

  /** Bytes of memory that a table needs. @param buckets a power of two */
  public static long bytesFor(long buckets) {
    throw new UnsupportedOperationException("to be written");
  }

  /** Formats zeroed memory of {@link #bytesFor} bytes, durably. */
  public static HashTable create(PersistentMemory memory, long buckets, StructureCounter counter) {
    throw new UnsupportedOperationException("to be written");
  }

  /**
   * Opens a formatted table and finishes a displacement that was interrupted. May be interrupted and repeated.
   *
   * @throws DamagedTableException when header or intent are not what this version writes; the message names the values
   */
  public static HashTable open(PersistentMemory memory, StructureCounter counter) {
    throw new UnsupportedOperationException("to be written");
  }

  /** Entries of a neighbourhood: what one READ fetches. */
  public static int neighbourhood() {
    return 16;
  }

  /** Where entry 0 begins in the memory, bytes. */
  public static long entriesOffset() {
    return 4096;
  }

  public long buckets() {
    throw new UnsupportedOperationException("to be written");
  }

  /** Slots: buckets plus padding. */
  public long slots() {
    throw new UnsupportedOperationException("to be written");
  }

  /** Entries in use, tombstones and pending ones too. */
  public long size() {
    throw new UnsupportedOperationException("to be written");
  }

  /** The slot of a key, or {@link #NONE}. Every entry with this key word is offered to {@code probe}. */
  public long find(long keyWord, KeyProbe probe) {
    throw new UnsupportedOperationException("to be written");
  }

  public long keyWord(long slot) {
    throw new UnsupportedOperationException("to be written");
  }

  public long versionWord(long slot) {
    throw new UnsupportedOperationException("to be written");
  }

  /**
   * Stores a version word in one atomic store and flushes it, if the entry still holds {@code keyWord} and {@code expected}. The caller
   * drains. {@code next} is not 0: see {@link #empty}.
   *
   * @return false, and nothing is stored, when the entry holds something else
   */
  public boolean storeWord(long slot, long keyWord, long expected, long next) {
    throw new UnsupportedOperationException("to be written");
  }

  /**
   * Adds an entry: key word, flush, drain, then version word, flush; the caller drains. Displaces others where it must.
   *
   * @return its slot, or {@link #NONE} when no room can be made in its neighbourhood: nothing of this key is stored then
   */
  public long insert(long keyWord, long versionWord) {
    throw new UnsupportedOperationException("to be written");
  }

  /**
   * Frees an entry, if it still holds {@code keyWord} and {@code expected} and is not pending: version word 0, flush, drain, key word 0,
   * flush; the caller drains.
   */
  public boolean empty(long slot, long keyWord, long expected) {
    throw new UnsupportedOperationException("to be written");
  }

  /** Waits until all that was flushed is durable. */
  public void drain() {
    throw new UnsupportedOperationException("to be written");
  }
}
