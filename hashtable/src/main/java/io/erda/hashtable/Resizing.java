package io.erda.hashtable;

import static io.erda.hashtable.TableLayout.entryOffset;

import io.erda.pmem.PersistentMemory;
import java.util.Arrays;

/**
 * Moves the entries of a table into one of twice or half the buckets, a stretch of slots at a time,
 * while readers read both and their server goes on storing (design, "Resizing"). One thread, the
 * tables'. Borrows both tables.
 *
 * <p>During a resizing insertions go only to the new table; an entry that was not moved yet is
 * updated and emptied in the old table. A reader READs the old neighbourhood first, then the new
 * one, so that it finds an entry that is moved at the same time in at least one of them. All this
 * does not depend on which table is larger: in each table the home of an entry follows from its key
 * word.
 *
 * <p>K is an entry's key word, w its version word. A power failure between two drains of a memory
 * may keep any subset of the words stored since the first drain, and lose the others.
 *
 * <pre>
 *   step                                                                    durable once its drain returned
 *   0  old: l over each w, which locks it
 *   1  old: stretch word; flush it and the entries of the stretch; drain     the stretch, every (K, l) in it
 *   2  new: K of each into a free slot; flush, drain                         new (K, 0)
 *   3  new: w of each; flush, drain                                          new (K, w)
 *   4  old: MOVED over each l; flush, drain                                  old (K, MOVED)
 * </pre>
 *
 * l is the locked w ({@link EntryLocks}); where there are no other writers it is w itself, and
 * nothing is stored for it. Other writers change nothing of the new table while entries are moved
 * into it, and of the old one only entries that are not locked.
 *
 * <p>Invariants, and what recovery concludes from them:
 *
 * <ol>
 *   <li>Between 1 and 4 nothing else is stored in either table (the tables have one thread; {@link
 *       #open} repairs before it returns), except that displacements in the new table move entries,
 *       and copies too. So a copy whose original is not MOVED has the original's key word and
 *       newest version, and lies in its key's neighbourhood.
 *   <li>4 stores only what 3 made durable, and no entry of the new table changes before 4 is
 *       durable. So original MOVED ⇒ the copy is durable and counts; original not MOVED ⇒ the copy,
 *       if any, is superfluous and unchanged: free it.
 *   <li>The next stretch word is stored after 4 drained. So only entries of the stretch in the word
 *       can be in both tables. The stretch word stays when the stretch is done; in a done stretch
 *       every entry is free, MOVED or pending, or has had no room in the new table.
 *   <li>Repair begins by flushing and draining the stretch, and ends by draining the new table,
 *       because after a process crash a MOVED, or a freed copy, may be visible and still be lost by
 *       a later power failure. Repair leaves the stretch word; a second repair finds nothing to do.
 * </ol>
 *
 * A pending entry is not moved, because the store that decides it goes to the slot where the entry
 * is now. The caller has the entry decided. An entry that readers can't find, because its key word
 * is damaged, is not moved either: it stays, with the old table, for the offline check to name.
 *
 * <p><b>Turning round.</b> In a smaller table the entries of two home buckets share one, so a
 * neighbourhood may be too full for what is to be moved into it. Then the resizing is {@link
 * #forget forgotten}: the stretch word becomes 0, durably, and after that every slot that is MOVED
 * is freed. Then each moved entry is only in the new table, every other entry is only in the old
 * one, and no word of the tables records the resizing any more. So the server stores durably that
 * the entries of the new table now go to the old one, and may {@link #open} that opposite resizing.
 * A crash before that store leaves the forgotten resizing, with free slots in place of some MOVED
 * ones. The forgotten resizing then goes on with the entries that are left. Readers see nothing of
 * it: a slot that is MOVED and one that is free are the same to them.
 */
public final class Resizing {
  /** The longest stretch, slots. */
  public static final int STRETCH_MAX = Stretch.SLOTS_MAX;

  private final HashTable from;
  private final HashTable to;
  private final long[] slots = new long[STRETCH_MAX];
  private final long[] targets = new long[STRETCH_MAX];

  /** The words of the entries before they were locked. */
  private final long[] words = new long[STRETCH_MAX];

  private long cursor;

  /** The number of entries that this pass over the old table did not move. */
  private long left;

  private long moved;
  private boolean done;
  private boolean stuck;
  private boolean metNoRoom;

  /** The slot up to which no MOVED is left; −1 while nothing is forgotten. */
  private long forgotten = -1;

  private Resizing(HashTable from, HashTable to) {
    this.from = from;
    this.to = to;
  }

  /**
   * Begins to move, or goes on after a crash: repairs the stretch that was interrupted, durably.
   * May be interrupted and repeated.
   *
   * @param to a table of twice or half the buckets, opened or just created
   * @throws DamagedTableException when the stretch word is none that a resizing stores
   */
  public static Resizing open(HashTable from, HashTable to) {
    if (to.buckets() != 2 * from.buckets() && from.buckets() != 2 * to.buckets()) {
      throw new IllegalArgumentException(
          to.buckets() + " buckets are neither twice nor half of " + from.buckets());
    }
    Resizing resizing = new Resizing(from, to);
    resizing.recover();
    return resizing;
  }

  private void recover() {
    PersistentMemory memory = from.memory();
    Stretch stretch = Stretch.load(memory.segment(), from.buckets());
    if (stretch == null) {
      return;
    }
    flushEntries(stretch);
    memory.drain();
    from.forEach(
        stretch.first(),
        stretch.end(),
        (slot, keyWord, versionWord) -> to.removeCopies(keyWord, versionWord));
    to.drain();
  }

  /** Whether every entry is in the new table. */
  public boolean done() {
    return done;
  }

  /**
   * Whether a whole pass moved nothing though entries are left, and the next pass was not begun.
   * The entries that are left are pending, or damaged, or the new table has no room for them.
   * Another pass is useless until that changes.
   */
  public boolean stuck() {
    return stuck;
  }

  /**
   * Whether the new table has had no room for an entry since the resizing was opened. A larger
   * table may get room when its entries are decided and can be displaced; a smaller table rarely
   * gets room.
   */
  public boolean metNoRoom() {
    return metNoRoom;
  }

  /** Returns the number of slots of the old table that this pass has done. */
  public long progress() {
    return done ? from.slots() : cursor;
  }

  /**
   * Whether a neighbourhood of the new table is too full for another key, {@code keyWord}. This
   * counts the entries of both tables whose home in the new table is the home of {@code keyWord}.
   * If they fill the neighbourhood, one more would take the room of an entry that is still to be
   * moved, and the resizing could not end.
   */
  public boolean isCrowded(long keyWord) {
    long home = Entry.bucket(keyWord, to.buckets());
    int count = to.countAtHome(home, home, to.buckets());
    long oldHome = Entry.bucket(keyWord, from.buckets());
    long otherHome = to.buckets() < from.buckets() ? oldHome ^ to.buckets() : oldHome;
    count += from.countAtHome(oldHome, home, to.buckets());
    if (otherHome != oldHome) {
      count += from.countAtHome(otherHome, home, to.buckets());
    }
    return count >= Neighbourhood.ENTRIES;
  }

  /**
   * Adds an entry to the new table, as {@link HashTable#insert}. If a process that died has left a
   * free entry of the key in the old table, that entry is first made durably free.
   *
   * @return its slot; {@link HashTable#NONE} also when the key {@link #isCrowded}
   */
  public long insert(long keyWord, long versionWord) {
    if (isCrowded(keyWord)) {
      return HashTable.NONE;
    }
    from.clearLeft(keyWord);
    return to.insert(keyWord, versionWord);
  }

  /** The first half of an insertion, into the new table: as {@link HashTable#stage}. */
  public long stage(long keyWord) {
    if (isCrowded(keyWord)) {
      return HashTable.NONE;
    }
    from.clearLeft(keyWord);
    return to.stage(keyWord);
  }

  /**
   * Moves the entries of the next slots, durably.
   *
   * @param slotsMax 1 … {@link #STRETCH_MAX}
   * @param pending visits pending entries of the old table first; it may store their words, or free
   *     them. Entries that stay pending are not moved.
   * @return the number of slots that were examined; 0 when the resizing is done
   */
  public int doWork(int slotsMax, EntryVisitor pending) {
    if (done) {
      return 0;
    }
    stuck = false;
    int length = (int) Math.min(Math.min(slotsMax, STRETCH_MAX), from.slots() - cursor);
    move(new Stretch(cursor, length), pending);
    cursor += length;
    if (cursor == from.slots()) {
      done = left == 0;
      stuck = left > 0 && moved == 0;
      cursor = 0;
      left = 0;
      moved = 0;
    }
    return length;
  }

  /**
   * Takes a step of forgetting which entries were moved, so that they can be moved back: see the
   * class comment. After the first step no more entries are moved.
   *
   * @param slotsMax the most slots of the old table to examine
   * @return whether all moves are forgotten, durably
   */
  public boolean forget(int slotsMax) {
    assert !done : "a resizing that is done is forgotten";
    if (forgotten < 0) {
      PersistentMemory memory = from.memory();
      memory.putLongRelease(TableLayout.STRETCH_OFFSET, 0);
      memory.flush(TableLayout.STRETCH_OFFSET, Long.BYTES);
      memory.drain();
      forgotten = 0;
    }
    long end = Math.min(from.slots(), forgotten + slotsMax);
    if (from.freeMoved(forgotten, end)) {
      from.drain();
    }
    forgotten = end;
    return forgotten == from.slots();
  }

  private void move(Stretch stretch, EntryVisitor pending) {
    assert forgotten < 0 : "entries are moved after the resizing was given up";
    int count = collect(stretch, pending);
    if (count == 0) {
      return;
    }
    PersistentMemory memory = from.memory();
    memory.putLongRelease(TableLayout.STRETCH_OFFSET, stretch.word());
    memory.flush(TableLayout.STRETCH_OFFSET, Long.BYTES);
    flushEntries(stretch);
    memory.drain();
    copy(count);
    for (int i = 0; i < count; i++) {
      if (targets[i] == HashTable.NONE) {
        from.locks().unlock(slots[i], words[i]);
        left++;
        metNoRoom = true;
      } else {
        assert isCopied(slots[i], words[i])
            : "slot " + slots[i] + " is marked before its entry is copied";
        from.markMoved(slots[i], words[i]);
        moved++;
      }
    }
    memory.drain();
  }

  /**
   * Whether the entry in a slot has a copy in the new table. The copy may have been displaced since
   * it was made, so it is searched.
   */
  private boolean isCopied(long slot, long word) {
    return to.find(from.keyWord(slot), (_, copy) -> copy == word) != HashTable.NONE;
  }

  /** Flushes the stretch's entries, whose stores by an earlier process may not be durable yet. */
  private void flushEntries(Stretch stretch) {
    from.memory().flush(entryOffset(stretch.first()), (long) stretch.slots() * Entry.BYTES);
  }

  /** Collects the slots of the stretch whose entries can be moved, and locks these. */
  private int collect(Stretch stretch, EntryVisitor pending) {
    int[] count = new int[1];
    from.forEach(
        stretch.first(),
        stretch.end(),
        (slot, keyWord, versionWord) -> {
          if (VersionWord.pending(versionWord)) {
            pending.entry(slot, keyWord, versionWord);
          }
          long word = from.isInPlace(slot) ? from.locks().lock(slot) : 0;
          if (word != 0) {
            slots[count[0]] = slot;
            words[count[0]++] = word;
          } else if (from.versionWord(slot) != 0) {
            left++;
          }
        });
    return count[0];
  }

  /** Does steps 2 and 3. An entry without room gets {@link HashTable#NONE} as its target. */
  private void copy(int count) {
    Arrays.fill(targets, 0, count, HashTable.NONE);
    int unfilled = 0;
    for (int i = 0; i < count; i++) {
      long keyWord = from.keyWord(slots[i]);
      targets[i] = to.stage(keyWord);
      if (targets[i] == HashTable.NONE) {
        fillStaged(unfilled, i);
        unfilled = i + 1;
        targets[i] = to.insert(keyWord, words[i]);
      }
    }
    fillStaged(unfilled, count);
    to.drain();
  }

  private void fillStaged(int begin, int end) {
    if (begin == end) {
      return;
    }
    to.drain();
    for (int i = begin; i < end; i++) {
      to.fillStaged(targets[i], words[i]);
    }
  }
}
