package io.erda.server.engine.tables;

import io.erda.hashtable.Entry;
import io.erda.hashtable.EntryVisitor;
import io.erda.hashtable.VersionWord;

/**
 * Empties the entries of deleted keys, which would fill the table for nothing: readers take such a
 * key for absent with its entry and without it, and so does a condition. One thread, the engine's.
 *
 * <p>An entry may be emptied when its newest version is a whole tombstone and committed. Nothing
 * brings an older version of its key back: recovery commits an object only where a word names it
 * and is pending, and a put that comes late is a put of its own, which finds the key absent either
 * way. Where the committed word was not durable yet, a power failure may leave it pending; then the
 * tombstone lies above the low-water mark, and recovery commits it again.
 *
 * <p>Whether an entry is one of a deleted key stands in its object, so a sweep looks at the object
 * of every entry. It begins when so many keys were deleted since the last one that this is worth
 * it: a quarter of all entries, and one for {@link #SLOTS_PER_DELETE} slots. Deletes of earlier
 * openings are not known.
 */
public final class TombstoneSweep {
  /** Bytes of a table that a sweep reads for each key that was deleted: 16 for each slot. */
  private static final int SLOTS_PER_DELETE = 64;

  private static final int ENTRIES_PER_DELETE = 4;

  /** In a large table half of them have objects to look at, each of them a cache miss. */
  private static final int SLOTS_A_STEP = 256;

  /** Entries that are emptied with one drain. */
  private static final int BATCH = 1024;

  private final Tables tables;
  private final StoredObjects objects;
  private final PutCounts counts;
  private final EntryVisitor looking = this::look;

  private final long[] entries = new long[BATCH];
  private final long[] keyWords = new long[BATCH];
  private final long[] words = new long[BATCH];
  private int found;

  /** The sweep that is under way; null: none is. */
  private Tables.Walk walk;

  /** Deletes up to the beginning of the sweep that is under way, or of the last one. */
  private long deletesBefore;

  private long emptied;

  public TombstoneSweep(Tables tables, StoredObjects objects, PutCounts counts) {
    this.tables = tables;
    this.objects = objects;
    this.counts = counts;
  }

  /** Entries emptied so far. */
  long emptied() {
    return emptied;
  }

  boolean underWay() {
    return walk != null;
  }

  /** The table is about to be resized: what is left is for the next sweep. */
  void giveUp() {
    walk = null;
    found = 0;
  }

  /**
   * A step of a sweep, where one is under way or is worth it. REQUIRES: the table is not being
   * resized.
   *
   * @return slots looked at; 0 when there is nothing to do
   */
  int doWork() {
    if (walk == null) {
      if (!isWorthIt()) {
        return 0;
      }
      deletesBefore = counts.deletes();
      walk = tables.walk();
    }
    int looked = walk.doWork(SLOTS_A_STEP, looking);
    boolean done = walk.done();
    if (done || found > BATCH - SLOTS_A_STEP) {
      emptied += tables.empty(entries, keyWords, words, found);
      found = 0;
    }
    walk = done ? null : walk;
    return looked;
  }

  private boolean isWorthIt() {
    long deletes = counts.deletes() - deletesBefore;
    return deletes > tables.slots() / SLOTS_PER_DELETE
        && tables.current().table().sizeKnown()
        && deletes * ENTRIES_PER_DELETE >= tables.size();
  }

  /**
   * Looks at one entry. Where its object is damaged it stays, because a value may have been there.
   */
  private void look(long entry, long keyWord, long word) {
    int newest = VersionWord.newest(word);
    int head = Entry.headOf(keyWord);
    if (!VersionWord.pending(word)
        && newest != VersionWord.NONE
        && objects.isTombstone(head, newest)) {
      entries[found] = entry;
      keyWords[found] = keyWord;
      words[found++] = word;
    }
  }
}
