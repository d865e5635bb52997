package io.erda.hashtable;

import java.lang.foreign.MemorySegment;

/**
 * Counts the entries in use of one table. The count is not persisted: of a table that was opened it
 * begins at 0, and {@link #doWork()} counts what is there, a stretch at a time. One thread, the
 * table's.
 */
final class EntryCount {
  /**
   * The slots that one {@link #doWork()} counts: 64 KiB, which takes some microseconds when they
   * are in the cache.
   */
  static final int STRETCH = 4096;

  private final MemorySegment segment;
  private final long buckets;
  private final long slots;

  /** The number of slots that were counted. */
  private long counted;

  /** The number of entries in use in slots [0, {@link #counted}). */
  private long occupied;

  EntryCount(MemorySegment segment, long buckets) {
    this.segment = segment;
    this.buckets = buckets;
    this.slots = TableLayout.slots(buckets);
  }

  /** Says that the table was just created, so that it has no entry. */
  void none() {
    counted = slots;
  }

  /**
   * Counts the entries in the next stretch of the table. Returns the number of slots in it; 0 when
   * the size is known.
   */
  int doWork() {
    long end = Math.min(slots, counted + STRETCH);
    int looked = (int) (end - counted);
    for (; counted < end; counted++) {
      occupied += VersionWord.inUse(TableLayout.versionWord(segment, counted)) ? 1 : 0;
    }
    return looked;
  }

  /** Whether every slot was counted. */
  boolean isKnown() {
    return counted == slots;
  }

  /** Returns the number of entries in use, after it has counted the rest of the table. */
  long size() {
    while (doWork() > 0) {
      // The loop counts until the size is known.
    }
    return occupied;
  }

  /** See {@link HashTable#isTaken}. */
  boolean isTaken(int bucketsPerEntry) {
    doWork();
    return occupied * bucketsPerEntry >= Math.min(counted, buckets);
  }

  /** Notes that a slot came into use. */
  void added(long slot) {
    occupied += slot < counted ? 1 : 0;
    assert occupied <= counted : occupied + " entries in " + counted + " slots";
  }

  /** Notes that a slot is not in use any more. */
  void freed(long slot) {
    occupied -= slot < counted ? 1 : 0;
    assert occupied >= 0 : "slot " + slot + " was freed and not in use";
  }
}
