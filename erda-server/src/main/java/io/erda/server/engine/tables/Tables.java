package io.erda.server.engine.tables;

import io.erda.hashtable.EntryVisitor;
import io.erda.hashtable.HashTable;
import io.erda.hashtable.KeyProbe;
import io.erda.hashtable.Resizing;
import io.erda.hashtable.VersionWord;
import io.erda.pmem.PersistentMemory;
import java.util.List;

/**
 * The server's table: one hash table, or two while it is resized. One thread. Owns the memories of
 * the tables that are in use.
 *
 * <p>An <em>entry</em> is a number that names a slot of one of the tables. It is valid until the
 * next insertion or step of the growth; after that it may name another entry, or none, and every
 * store through it compares the words and refuses.
 *
 * <p>During a resizing a key is searched in the old table, then in the new table, and inserted into
 * the new table. Entries that were not moved yet are updated in place, so that an update is always
 * one store of a word and waits for no move.
 */
public final class Tables implements AutoCloseable {
  /** No entry. */
  public static final long NONE = HashTable.NONE;

  /**
   * The shift of a table's order in the number of an entry. The orders of two tables that are in
   * use together differ in their lowest bit.
   */
  private static final int ORDER_SHIFT = 62;

  private static final long SLOT = (1L << ORDER_SHIFT) - 1;

  /** Slots that are moved for each insertion during a resizing. */
  private static final int SLOTS_PER_INSERTION = 8;

  /** The bound of {@link #owedSlots}, which is more than one batch of insertions owes. */
  private static final long OWED_MAX = 1024;

  /** How often a change of a word may come too late before its entry is pinned. */
  private static final int SWAPS_LOST_MAX = 8;

  /**
   * One hash table in use, with its file; each resizing moves the entries into a new generation.
   * The code that takes it out of use closes its memory.
   *
   * @param number the number of its file
   * @param order the position of the table among the tables since the store was opened; entries
   *     move from a table to the table with the next higher order
   */
  public record Generation(int number, int order, PersistentMemory memory, HashTable table) {
    /** The first table after an opening. */
    public Generation(int number, PersistentMemory memory, HashTable table) {
      this(number, 0, memory, table);
    }

    public long entry(long slot) {
      return slot == NONE ? NONE : (long) (order & 1) << ORDER_SHIFT | slot;
    }

    private Generation behind(Generation other) {
      return new Generation(number, other.order + 1, memory, table);
    }
  }

  private Generation current;

  /** The table that entries are moved to; null when the table is not being resized. */
  private Generation next;

  private Resizing resizing;

  /** Whether others change words, too. */
  private boolean shared;

  /** Slots that still have to be moved for insertions into the new table. */
  private long owedSlots;

  /**
   * Whether a publication waits for the drain of a table. The table may go out of use meanwhile,
   * but its memory must not be given back.
   */
  private boolean held;

  /**
   * @param next null when it is not being resized
   */
  public Tables(Generation current, Generation next) {
    this.current = current;
    if (next != null) {
      begin(next);
    }
  }

  /**
   * Shares the tables, those of later resizings included: from now on others change words of the
   * current table while it is not being resized. See {@link HashTable#share}.
   */
  public void share() {
    shared = true;
    inUse().forEach(each -> each.table.share());
  }

  // Methods for the resizing.

  /** Begins to move entries into another table, after repairing the traces of a crash. */
  void begin(Generation other) {
    assert next == null : "table " + other.number + " beside " + inUse();
    resizing = Resizing.open(current.table, other.table);
    next = other.behind(current);
    owedSlots = 0;
    if (shared) {
      other.table.share();
    }
  }

  /**
   * Reverses the direction in which entries are moved. REQUIRES: the resizing was forgotten, and
   * the superblock has the opposite resizing.
   */
  void turn() {
    Generation old = current;
    current = next;
    resizing = Resizing.open(current.table, old.table);
    next = old.behind(current);
    owedSlots = 0;
  }

  /** Makes the new table the only one. Returns the old one. */
  Generation end() {
    assert resizing.done() : "entries are left in table " + current.number;
    Generation old = current;
    current = next;
    next = null;
    resizing = null;
    return old;
  }

  /** Null when the table is not being resized. */
  public Resizing resizing() {
    return resizing;
  }

  /** Whether entries are moved into a smaller table. */
  public boolean halving() {
    return next != null && next.table.buckets() < current.table.buckets();
  }

  public Generation current() {
    return current;
  }

  /** Null when the table is not being resized. */
  public Generation next() {
    return next;
  }

  /**
   * Returns the number of slots that must be moved before many more insertions; 0 when none is
   * owed.
   */
  long owed() {
    return owedSlots;
  }

  void owe(long slots) {
    owedSlots = slots;
  }

  void paid(long slots) {
    owedSlots = Math.max(0, owedSlots - slots);
  }

  /** The tables in use, the old one first. */
  public List<Generation> inUse() {
    return next == null ? List.of(current) : List.of(current, next);
  }

  // Entries.

  /** The entry of a key, or {@link #NONE}; see {@link HashTable#find}. Allocates nothing. */
  public long find(long keyWord, KeyProbe probe) {
    long slot = current.table.find(keyWord, probe);
    if (slot != NONE || next == null) {
      return current.entry(slot);
    }
    return next.entry(next.table.find(keyWord, probe));
  }

  /** See {@link HashTable#findSoon}. */
  public void findSoon(long[] keyWords, int count) {
    current.table.findSoon(keyWords, count);
    if (next != null) {
      next.table.findSoon(keyWords, count);
    }
  }

  /** See {@link HashTable#likelyWord}. */
  public long likelyWord(long keyWord) {
    long word = current.table.likelyWord(keyWord);
    return word != 0 || next == null ? word : next.table.likelyWord(keyWord);
  }

  public long keyWord(long entry) {
    return of(entry).keyWord(entry & SLOT);
  }

  public long versionWord(long entry) {
    return of(entry).versionWord(entry & SLOT);
  }

  /**
   * The word of an entry for the next attempt to change it. After {@link #SWAPS_LOST_MAX} attempts
   * before which other writers came, the entry is pinned: call {@link #unpin} after the attempt, in
   * any case.
   *
   * @param lost how many attempts have failed
   * @throws IllegalStateException when the attempt failed that had pinned the entry: then not even
   *     another writer can be the cause, and one more attempt would fail as well
   */
  public long wordToChange(long entry, int lost) {
    if (lost > SWAPS_LOST_MAX) {
      throw new IllegalStateException(
          "entry " + entry + " can't be changed: " + VersionWord.toString(versionWord(entry)));
    }
    long pinned = lost < SWAPS_LOST_MAX ? 0 : of(entry).pin(entry & SLOT);
    return pinned == 0 ? versionWord(entry) : pinned;
  }

  /** See {@link HashTable#unpin}. */
  public void unpin() {
    current.table.unpin();
    if (next != null) {
      next.table.unpin();
    }
  }

  /** See {@link HashTable#storeWord}. */
  public boolean storeWord(long entry, long keyWord, long expected, long next) {
    return isThere(entry) && of(entry).storeWord(entry & SLOT, keyWord, expected, next);
  }

  /** See {@link HashTable#swapWord}. */
  public boolean swapWord(long entry, long expected, long next) {
    return of(entry).swapWord(entry & SLOT, expected, next);
  }

  /** See {@link HashTable#empty}. */
  public boolean empty(long entry, long keyWord, long expected) {
    return isThere(entry) && of(entry).empty(entry & SLOT, keyWord, expected);
  }

  /** See {@link HashTable#remove}. */
  public boolean remove(long entry, long keyWord, long expected) {
    return isThere(entry) && of(entry).remove(entry & SLOT, keyWord, expected);
  }

  /**
   * See {@link HashTable#empty(long[], long[], long[], int)}. REQUIRES: the table is not being
   * resized.
   */
  int empty(long[] entries, long[] keyWords, long[] expected, int count) {
    int there = 0;
    for (int i = 0; i < count; i++) {
      if (isThere(entries[i])) {
        entries[there] = entries[i] & SLOT;
        keyWords[there] = keyWords[i];
        expected[there++] = expected[i];
      }
    }
    return current.table.empty(entries, keyWords, expected, there);
  }

  /** See {@link HashTable#rollback}. */
  public boolean rollback(long entry, long keyWord, long expected) {
    return isThere(entry) && of(entry).rollback(entry & SLOT, keyWord, expected);
  }

  /**
   * See {@link HashTable#insert}. During a resizing it also returns {@link #NONE} when too few
   * entries were moved for the insertions so far, or the entries of both tables leave too little
   * room in the new one, because the new table must not be full before the old one is empty.
   */
  public long insert(long keyWord, long versionWord) {
    if (next == null) {
      return current.entry(current.table.insert(keyWord, versionWord));
    }
    if (owesTooMuch() || isNextTight()) {
      return NONE;
    }
    long entry = next.entry(resizing.insert(keyWord, versionWord));
    owedSlots += entry == NONE ? 0 : SLOTS_PER_INSERTION;
    return entry;
  }

  /** Whether owed slots must be moved before the next insertion. */
  boolean owesTooMuch() {
    return next != null && owedSlots > Math.min(OWED_MAX, 2 * current.table.buckets());
  }

  /**
   * Whether the new table, with the entries of both, would be more than 5/8 full, so that
   * displacements might fail. This is so only when the resizing has been stuck for many insertions,
   * or goes to a table that is too small. As long as the old table is not counted, only the new
   * one's entries count.
   */
  private boolean isNextTight() {
    long old = current.table.sizeKnown() ? current.table.size() : 0;
    return (next.table.size() + old) * 8 > next.table.buckets() * 5;
  }

  /** Whether a bucket's neighbourhood holds only keys of that bucket. */
  boolean isBucketFull(long keyWord) {
    return isCrowded(keyWord) || (next == null && current.table.isCrowded(keyWord));
  }

  /** Whether an insertion fails because too many keys share its bucket in the new table. */
  boolean isCrowded(long keyWord) {
    return resizing != null && resizing.isCrowded(keyWord);
  }

  /** The table that insertions go to. */
  private Generation into() {
    return next == null ? current : next;
  }

  /**
   * Returns the order of the table into which insertions go. Entries that were staged in another
   * table can't be used.
   */
  public int insertsInto() {
    return into().order;
  }

  /** Returns the memory of the table into which insertions go. */
  public PersistentMemory insertsIntoMemory() {
    return into().memory;
  }

  /**
   * See {@link HashTable#stage}. The returned entry is free, and stays valid longer than others: as
   * long as {@link #insertsInto} is the same. When this returns {@link #NONE}, {@link #insert} the
   * key later.
   */
  public long stage(long keyWord) {
    if (next == null) {
      return current.entry(current.table.stage(keyWord));
    }
    return owesTooMuch() || isNextTight() ? NONE : next.entry(resizing.stage(keyWord));
  }

  /**
   * See {@link HashTable#insertStaged}.
   *
   * @param staged a staged entry of the table that insertions go to now
   */
  public boolean insertStaged(long staged, long keyWord, long versionWord) {
    boolean inserted = into().table.insertStaged(staged & SLOT, keyWord, versionWord);
    owedSlots += next == null || !inserted ? 0 : SLOTS_PER_INSERTION;
    return inserted;
  }

  /**
   * See {@link HashTable#unstage}.
   *
   * @param staged a staged entry of the table that insertions go to now
   */
  public void unstage(long staged, long keyWord) {
    into().table.unstage(staged & SLOT, keyWord);
  }

  /**
   * Sets whether a publication waits for the drain of a table. While one does, no table's memory is
   * given back, although a resizing may end meanwhile and the old table go out of use.
   */
  public void hold(boolean holding) {
    held = holding;
  }

  /** Whether no memory of a table may be given back. */
  boolean isHeld() {
    return held;
  }

  /** Waits until all flushed words are durable. */
  public void drain() {
    current.table.drain();
    if (next != null) {
      next.table.drain();
    }
  }

  /** The memory of an entry. */
  public PersistentMemory memoryOf(long entry) {
    return (isInNext(entry) ? next : current).memory;
  }

  private HashTable of(long entry) {
    return isInNext(entry) ? next.table : current.table;
  }

  /** Whether an entry is in the new table. */
  boolean isInNext(long entry) {
    return next != null && (entry >>> ORDER_SHIFT & 1) == (next.order & 1);
  }

  /** The slot of an entry in its table. */
  public static long slot(long entry) {
    return entry & SLOT;
  }

  /**
   * Whether an entry's slot exists. An old number may name a slot beyond the end of the current
   * table.
   */
  private boolean isThere(long entry) {
    return (entry & SLOT) < of(entry).slots();
  }

  // Figures.

  /** Returns the number of buckets; during a resizing those of the new table. */
  public long buckets() {
    return (next == null ? current : next).table.buckets();
  }

  public long slots() {
    return (next == null ? current : next).table.slots();
  }

  /** Number of entries in use, including tombstones and pending ones; may read the whole table. */
  public long size() {
    return current.table.size() + (next == null ? 0 : next.table.size());
  }

  /**
   * As {@link #size()}, or −1 when more of the table must be read first: after an opening it is
   * counted in steps.
   */
  public long sizeIfKnown() {
    boolean known = current.table.sizeKnown() && (next == null || next.table.sizeKnown());
    return known ? size() : -1;
  }

  /** How much of the old table a resizing has moved, percent; 100 when none is under way. */
  public long progressPercent() {
    return resizing == null ? 100 : 100 * resizing.progress() / current.table.slots();
  }

  /** The table's memory, while it is not being resized. */
  public PersistentMemory memory() {
    return current.memory;
  }

  // Walks.

  /** Begins a walk over all entries in slices. */
  public Walk walk() {
    return new Walk();
  }

  /** Shows every entry to {@code visitor}, in one call. */
  public void forEach(EntryVisitor visitor) {
    Walk walk = walk();
    while (walk.doWork(Integer.MAX_VALUE, visitor) > 0) {
      // goes on
    }
  }

  /**
   * A walk over all entries in slices. Any change may happen between two slices: the walk shows
   * every entry that existed all the time, and may show an entry twice. Like the walk, entries move
   * only upwards: within a table by displacement, and from a table to the next one by a resizing.
   * When the table of the walk is taken out of use, its remaining entries are in the next table,
   * and the walk begins anew there.
   */
  public final class Walk {
    private int order = current.order;
    private long slot;
    private boolean done;

    /** Whether all entries were shown. */
    public boolean done() {
      return done;
    }

    /**
     * Shows the entries among the next slots. The visitor may store the word of the entry it is
     * shown, or empty it.
     *
     * @return slots visited; 0 when the walk is done
     */
    public int doWork(int slotsMax, EntryVisitor visitor) {
      if (done) {
        return 0;
      }
      if (order < current.order) {
        order = current.order;
        slot = 0;
      }
      Generation walked = order == current.order ? current : next;
      long end = Math.min(walked.table.slots(), slot + slotsMax);
      int looked = (int) Math.min(Integer.MAX_VALUE, end - slot);
      walked.table.forEach(
          slot,
          end,
          (at, keyWord, versionWord) -> visitor.entry(walked.entry(at), keyWord, versionWord));
      slot = end;
      if (slot == walked.table.slots()) {
        done = next == null || walked == next;
        order = done ? order : next.order;
        slot = 0;
      }
      return looked;
    }
  }

  @Override
  public void close() {
    inUse().forEach(generation -> generation.memory.close());
  }
}
