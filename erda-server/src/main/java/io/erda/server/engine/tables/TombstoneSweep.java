package io.erda.server.engine.tables;

import io.erda.hashtable.Entry;
import io.erda.hashtable.EntryVisitor;
import io.erda.hashtable.VersionWord;

/**
 * Empties the entries of deleted keys, which only take room. To readers and conditions such a key
 * is absent with or without its entry. One thread, the engine's.
 *
 * <p>An entry may be emptied when its newest version is committed and is a whole tombstone. No
 * older version of the key comes back: recovery commits an object only if a pending word names it,
 * and a put that comes late is a new put, which finds the key absent with or without the entry. A
 * power failure may turn a committed word that was not durable back into the pending word; then the
 * tombstone lies above the low-water mark, and recovery commits the word again.
 *
 * <p>Only the object tells whether a key is deleted, so a sweep reads the object of every entry. It
 * begins when enough keys were deleted since the last one: a quarter of all entries, and one for
 * {@link #SLOTS_PER_DELETE} slots. Deletes of earlier openings are not counted.
 */
public final class TombstoneSweep {
  /** A sweep reads at most this many slots of the table, 16 bytes each, for each deleted key. */
  private static final int SLOTS_PER_DELETE = 64;

  private static final int ENTRIES_PER_DELETE = 4;

  /**
   * The slots that one step visits. In a large table half of them have objects to read, and each
   * object is a cache miss.
   */
  private static final int SLOTS_A_STEP = 256;

  /** How many entries are emptied with one drain. */
  private static final int BATCH = 1024;

  private final Tables tables;
  private final StoredObjects objects;
  private final PutCounts counts;
  private final EntryVisitor looking = this::look;

  private final long[] entries = new long[BATCH];
  private final long[] keyWords = new long[BATCH];
  private final long[] words = new long[BATCH];
  private int found;

  /** The sweep under way, or null. */
  private Tables.Walk walk;

  /** Number of deletes until the beginning of the last sweep, which may be under way. */
  private long deletesBefore;

  private long emptied;

  public TombstoneSweep(Tables tables, StoredObjects objects, PutCounts counts) {
    this.tables = tables;
    this.objects = objects;
    this.counts = counts;
  }

  /** Number of entries emptied so far. */
  long emptied() {
    return emptied;
  }

  boolean underWay() {
    return walk != null;
  }

  /**
   * Gives up the sweep because the table is about to be resized. The next sweep covers the
   * remaining entries.
   */
  void giveUp() {
    walk = null;
    found = 0;
  }

  /**
   * Takes a step of a sweep, if one is under way or enough keys were deleted to begin one.
   * REQUIRES: the table is not being resized.
   *
   * @return slots visited; 0 when there is nothing to do
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
   * Checks one entry. The entry stays when its object is damaged, because the object may have been
   * a value.
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
