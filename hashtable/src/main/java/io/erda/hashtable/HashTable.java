package io.erda.hashtable;

import static io.erda.hashtable.TableLayout.entryOffset;

import io.erda.pmem.PersistentMemory;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * The hopscotch table as the server uses it. It is the only writer of its memory, but for version
 * words once it is {@link #share shared}. See {@code FORMAT.md}. One thread. Borrows its memory.
 *
 * <p>The neighbourhood of bucket b is the contiguous entries [b, b + neighbourhood); the table is
 * padded, there is no wrap. A slot is the index of an entry. A key that is in the table lies in the
 * neighbourhood of its home bucket. No hop bitmaps are stored, because readers fetch the whole
 * neighbourhood, and the home bucket of an entry follows from its key word.
 *
 * <p>A slot is free when its version word is 0; its key word may then be left over from a crash. A
 * store is visible to one-sided readers at once; it is durable after {@link #drain()}, or earlier
 * where a method says so.
 */
public final class HashTable {
  /** Stands for no slot: the key was not found, or there is no room. */
  public static final long NONE = -1;

  /**
   * The number of slots from its home bucket on in which an insertion searches for a free slot.
   * This bounds the cost of one insertion to 64 KiB of loads, and 4095 displacements in the worst
   * case. It does not limit how full a table gets: when insertions begin to fail because no
   * displacement is possible ({@code FORMAT.md}, "How full"), the nearest free slot is tens of
   * slots away, not thousands.
   */
  static final int PROBE_SLOTS = 4096;

  private final PersistentMemory memory;
  private final MemorySegment segment;
  private final EntryLocks locks;
  private final Displacement displacement;
  private final EntryCount entries;
  private final long buckets;
  private final long slots;

  /** The slots that get no other entry; see {@link #bar}. */
  private long[] barred = {};

  /**
   * A combination of the words that were loaded ahead. It makes the words used, because a compiler
   * would drop a load whose result is unused.
   */
  @SuppressWarnings("unused")
  private long soonWords;

  private HashTable(PersistentMemory memory, StructureCounter counter, long buckets) {
    this.memory = memory;
    this.segment = memory.segment();
    this.locks = new EntryLocks(memory);
    this.displacement = new Displacement(memory, counter, buckets, locks);
    this.entries = new EntryCount(segment, buckets);
    this.buckets = buckets;
    this.slots = TableLayout.slots(buckets);
  }

  /**
   * Returns the bytes of memory that a table needs.
   *
   * @param buckets a power of two, 1 … 2^40
   */
  public static long bytesFor(long buckets) {
    return TableLayout.bytesFor(buckets);
  }

  /**
   * Formats zeroed memory of {@link #bytesFor} bytes, durably. Does not change the counter. After a
   * crash during this call {@link #open} refuses the memory, which may be formatted again.
   */
  public static HashTable create(PersistentMemory memory, long buckets, StructureCounter counter) {
    if (memory.segment().byteSize() < bytesFor(buckets)) {
      throw new IllegalArgumentException(
          buckets
              + " buckets need "
              + bytesFor(buckets)
              + " bytes, there are "
              + memory.segment().byteSize());
    }
    TableLayout.putHeader(memory, buckets);
    memory.flush(0, TableLayout.HEADER_BYTES);
    memory.drain();
    HashTable table = new HashTable(memory, counter, buckets);
    table.entries.none();
    return table;
  }

  /**
   * Opens a formatted table and finishes a displacement or removal that was interrupted. May be
   * interrupted and repeated. Reads only the header and at most two entries, however large the
   * table is. The counter is even and higher afterwards.
   *
   * <p>REQUIRES: nobody else changes a word. Writers of an earlier server have ended, or can't
   * change one any more.
   *
   * @throws DamagedTableException when the header or the intent has values that this version never
   *     writes; the message has the values, and nothing is stored
   */
  public static HashTable open(PersistentMemory memory, StructureCounter counter) {
    HashTable table = new HashTable(memory, counter, TableLayout.checkedBuckets(memory.segment()));
    table.displacement.recover();
    return table;
  }

  /**
   * The offline check: checks every word of a table, which need not be open, and stores nothing.
   * Only the caller, which reads the objects, can find out whether two entries that share a key
   * word have different keys, and whether the hash of a key agrees with the key word of its entry.
   */
  public static void check(MemorySegment memory, Consumer<? super TableFinding> findings) {
    new TableCheck(memory, findings).run();
  }

  /** As {@link #check(MemorySegment, Consumer)}, for this table. */
  public void check(Consumer<? super TableFinding> findings) {
    check(segment, findings);
  }

  /**
   * Whether the memory of a table holds an entry that was not moved. The table need not be
   * formatted.
   */
  public static boolean holdsEntries(MemorySegment memory) {
    long slots = (memory.byteSize() - TableLayout.ENTRIES_OFFSET) / Entry.BYTES;
    for (long slot = 0; slot < slots; slot++) {
      if (VersionWord.inUse(TableLayout.versionWord(memory, slot))) {
        return true;
      }
    }
    return false;
  }

  /**
   * Shares the table. From now on others replace decided version words by compare-and-swap, at any
   * moment: each is the word of an entry in use, and is replaced by another decided word. They
   * change nothing else, and nothing of a table that entries are being moved into.
   */
  public void share() {
    locks.share();
  }

  /** Returns the number of entries of a neighbourhood, which one READ fetches. */
  public static int neighbourhood() {
    return Neighbourhood.ENTRIES;
  }

  /** Returns the offset of entry 0 in the memory, in bytes. */
  public static long entriesOffset() {
    return TableLayout.ENTRIES_OFFSET;
  }

  public long buckets() {
    return buckets;
  }

  /** Returns the number of slots: the buckets and the padding. */
  public long slots() {
    return slots;
  }

  /**
   * Returns the number of entries in use, including tombstones and pending entries. The number is
   * not persisted: after {@link #open} the entries are counted by {@link #doWork()}, or by this
   * call, which then reads the rest of the table.
   */
  public long size() {
    return entries.size();
  }

  /**
   * Whether the table has at least one entry for each {@code bucketsPerEntry} buckets. While the
   * table is not counted to its end, the counted part decides, because the hash spreads keys
   * evenly. Counts one more stretch at most.
   */
  public boolean isTaken(int bucketsPerEntry) {
    return entries.isTaken(bucketsPerEntry);
  }

  /** Whether {@link #size()} is known without reading the table. */
  public boolean sizeKnown() {
    return entries.isKnown();
  }

  /**
   * Counts the entries in the next stretch of the table. Returns the number of slots in it; 0 when
   * the size is known.
   */
  public int doWork() {
    return entries.doWork();
  }

  /**
   * Returns the slot of a key, or {@link #NONE}. Calls {@code probe} for the entries in use with
   * this key word until it accepts one. Allocates nothing.
   */
  public long find(long keyWord, KeyProbe probe) {
    long home = Entry.bucket(keyWord, buckets);
    long base = entryOffset(home);
    for (int i = Neighbourhood.nextMatch(segment, base, keyWord, 0); i >= 0; ) {
      long versionWord = Neighbourhood.versionWord(segment, base, i);
      if (versionWord != VersionWord.MOVED && probe.matches(home + i, versionWord)) {
        return home + i;
      }
      i = Neighbourhood.nextMatch(segment, base, keyWord, i + 1);
    }
    return NONE;
  }

  /**
   * Loads the home buckets of key words that will be searched soon. These loads overlap as far as
   * the processor allows, while the loads of several calls of {@link #find} follow each other.
   */
  public void findSoon(long[] keyWords, int count) {
    long words = 0;
    for (int i = 0; i < count; i++) {
      words += TableLayout.versionWord(segment, Entry.bucket(keyWords[i], buckets));
    }
    soonWords = words;
  }

  /**
   * Returns the version word of the first entry in use with this key word; 0 when there is none.
   * Most likely this is the entry of the key, but only {@link #find} can make sure of that.
   */
  public long likelyWord(long keyWord) {
    long base = entryOffset(Entry.bucket(keyWord, buckets));
    for (int i = Neighbourhood.nextMatch(segment, base, keyWord, 0); i >= 0; ) {
      long versionWord = Neighbourhood.versionWord(segment, base, i);
      if (versionWord != VersionWord.MOVED) {
        return versionWord;
      }
      i = Neighbourhood.nextMatch(segment, base, keyWord, i + 1);
    }
    return 0;
  }

  public long keyWord(long slot) {
    return TableLayout.keyWord(segment, Objects.checkIndex(slot, slots));
  }

  public long versionWord(long slot) {
    return TableLayout.versionWord(segment, Objects.checkIndex(slot, slots));
  }

  /**
   * Calls {@code visitor} for every entry in use; see {@link #forEach(long, long, EntryVisitor)}.
   */
  public void forEach(EntryVisitor visitor) {
    forEach(0, slots, visitor);
  }

  /**
   * Calls {@code visitor} for the entries in use in slots [from, to), in order. The visitor may
   * store the word of its entry, or empty the entry. Insertions between two calls, or by the
   * visitor, may move entries, but only upwards. So a walk from slot 0 up in several calls visits
   * every entry that exists all the time, and may visit an entry twice.
   */
  public void forEach(long from, long to, EntryVisitor visitor) {
    Objects.checkFromToIndex(from, to, slots);
    for (long slot = from; slot < to; slot++) {
      long versionWord = TableLayout.versionWord(segment, slot);
      if (VersionWord.inUse(versionWord)) {
        visitor.entry(slot, TableLayout.keyWord(segment, slot), versionWord);
      }
    }
  }

  /**
   * As {@link #forEach(long, long, EntryVisitor)}, only for entries whose word has an offset with
   * these bits ({@link VersionWord#hasOffset}). Of other entries only the version word is loaded,
   * so a sweep for one region is cheap in a large table.
   */
  public void forEachWithOffset(long from, long to, int mask, int bits, EntryVisitor visitor) {
    Objects.checkFromToIndex(from, to, slots);
    for (long slot = from; slot < to; slot++) {
      long versionWord = TableLayout.versionWord(segment, slot);
      if (VersionWord.hasOffset(versionWord, mask, bits) && VersionWord.inUse(versionWord)) {
        visitor.entry(slot, TableLayout.keyWord(segment, slot), versionWord);
      }
    }
  }

  /**
   * Stores a version word in one atomic store and flushes it, if the entry still holds {@code
   * keyWord} and {@code expected}. The caller drains. {@code next} is not 0: see {@link #empty} and
   * {@link #rollback}.
   *
   * @return false when the entry holds other words; then nothing is stored
   */
  public boolean storeWord(long slot, long keyWord, long expected, long next) {
    if (!VersionWord.inUse(next)) {
      throw new IllegalArgumentException(
          "a version word of 0 would free the entry, and only a resizing moves it: "
              + VersionWord.toString(next));
    }
    return replace(slot, keyWord, expected, next);
  }

  /**
   * Replaces the decided word of an entry by another one, by compare-and-swap, and flushes it. The
   * caller drains. Several threads may do so at once, and look entries up. REQUIRES: no other
   * method changes an entry meanwhile.
   *
   * @return false when the entry has another word; then nothing is stored
   */
  public boolean swapWord(long slot, long expected, long next) {
    assert isDecided(expected) && isDecided(next)
        : VersionWord.toString(expected) + " -> " + VersionWord.toString(next);
    long offset = entryOffset(slot) + Entry.VERSION_WORD_OFFSET;
    if (!memory.compareAndSetLong(offset, expected, next)) {
      return false;
    }
    memory.flush(offset, Long.BYTES);
    return true;
  }

  private static boolean isDecided(long word) {
    return VersionWord.inUse(word) && !VersionWord.pending(word);
  }

  /**
   * Adds an entry: key word, flush, drain, then version word, flush; the caller drains. Displaces
   * other entries if necessary, durably.
   *
   * <p>REQUIRES: the key is not in the table. Other keys with the same key word may be.
   *
   * @param keyWord not 0
   * @param versionWord not 0
   * @return the slot, or {@link #NONE} when no room can be made in the neighbourhood; then nothing
   *     is stored. Pending entries can't be displaced, so the same insertion may succeed after some
   *     of them were decided.
   */
  public long insert(long keyWord, long versionWord) {
    if (keyWord == 0 || !VersionWord.inUse(versionWord)) {
      throw new IllegalArgumentException(
          "an entry needs a key word and a version word: " + keyWord + ", " + versionWord);
    }
    long home = Entry.bucket(keyWord, buckets);
    long free = firstFree(home);
    if (free == NONE || !reaches(home, free)) {
      return NONE;
    }
    clearLeftKeyWords(home);
    clearLeftKeyWord(free);
    while (free - home >= Neighbourhood.ENTRIES) {
      long source = movable(free);
      assert source != NONE : "slot " + free + " was to lead to bucket " + home;
      displacement.move(source, free);
      entries.added(free);
      entries.freed(source);
      free = source;
    }
    fill(free, keyWord, versionWord);
    return free;
  }

  /**
   * Stores a key word in a free slot of its neighbourhood and flushes it: the first half of an
   * insertion, for a caller that drains once for many insertions and then stores the version words
   * with {@link #insertStaged}. Readers do not see the key word, and it does no harm after a crash.
   *
   * @param keyWord not 0
   * @return the slot, or {@link #NONE} when there is no free slot without a key word, or the
   *     neighbourhood has a left or staged entry with the same key word; then complete all staged
   *     insertions, and {@link #insert} the key
   */
  public long stage(long keyWord) {
    long home = Entry.bucket(keyWord, buckets);
    long free = NONE;
    for (long slot = home; slot < home + Neighbourhood.ENTRIES; slot++) {
      if (TableLayout.versionWord(segment, slot) == 0) {
        long left = TableLayout.keyWord(segment, slot);
        if (left == keyWord) {
          return NONE;
        }
        free = left == 0 && free == NONE && !isBarred(slot) ? slot : free;
      }
    }
    if (free != NONE) {
      putKeyWord(free, keyWord);
    }
    return free;
  }

  /**
   * The second half of an insertion: stores the version word of a staged entry and flushes it, as
   * the end of {@link #insert}. REQUIRES: a drain since {@link #stage}.
   *
   * @return false when another insertion has taken the slot in the meantime; then nothing is stored
   */
  public boolean insertStaged(long slot, long keyWord, long versionWord) {
    if (!isStaged(slot, keyWord)) {
      return false;
    }
    fillStaged(slot, versionWord);
    return true;
  }

  /**
   * Takes back a staged key word, unless another insertion has taken the slot in the meantime. No
   * drain is needed, because a key word that a crash leaves does no harm.
   */
  public void unstage(long slot, long keyWord) {
    if (isStaged(slot, keyWord)) {
      putKeyWord(slot, 0);
    }
  }

  /**
   * Whether the slot is as {@link #stage} left it: with a key word and no version. Any other method
   * that empties a slot clears its key word too.
   */
  private boolean isStaged(long slot, long keyWord) {
    return versionWord(slot) == 0 && keyWord(slot) == keyWord;
  }

  /**
   * Frees an entry, if it still holds {@code keyWord} and {@code expected} and is not pending:
   * version word 0, flush, drain, key word 0, flush; the caller drains.
   *
   * @return false when the entry holds other words or is pending; then nothing is stored
   */
  public boolean empty(long slot, long keyWord, long expected) {
    if (VersionWord.pending(expected) || !replace(slot, keyWord, expected, 0)) {
      return false;
    }
    clearFreed(slot);
    return true;
  }

  /**
   * As {@link #empty} of several entries, with one drain for all of them between their version
   * words and their key words; the caller drains. An entry that holds other words now, or is
   * pending, is left as it is.
   *
   * @param at the slots of the entries; on return the emptied slots come first
   * @return how many were emptied
   */
  public int empty(long[] at, long[] keyWords, long[] expected, int count) {
    int emptied = 0;
    for (int i = 0; i < count; i++) {
      if (!VersionWord.pending(expected[i]) && replace(at[i], keyWords[i], expected[i], 0)) {
        at[emptied++] = at[i];
      }
    }
    if (emptied > 0) {
      memory.drain();
    }
    for (int i = 0; i < emptied; i++) {
      putKeyWord(at[i], 0);
      entries.freed(at[i]);
    }
    return emptied;
  }

  /**
   * As {@link #empty}, and durable when it returns. A reader sees that the entry is gone only when
   * no crash can bring it back. {@link #empty} is for entries whose keys were already absent to
   * readers.
   *
   * @return false when the entry holds other words or is pending; then nothing is stored
   */
  public boolean remove(long slot, long keyWord, long expected) {
    if (VersionWord.pending(expected)
        || !holds(slot, keyWord, expected)
        || !displacement.empty(slot, expected)) {
      return false;
    }
    entries.freed(slot);
    return true;
  }

  /**
   * Takes back the pending newest version of an entry, if it still holds {@code keyWord} and {@code
   * expected}: its word becomes {@link VersionWord#rollback}, and an entry without an older version
   * is freed, in the order of {@link #empty}. The caller drains.
   *
   * @param expected pending
   * @return false when the entry holds other words; then nothing is stored
   */
  public boolean rollback(long slot, long keyWord, long expected) {
    long next = VersionWord.rollback(expected);
    if (!replace(slot, keyWord, expected, next)) {
      return false;
    }
    if (next == 0) {
      clearFreed(slot);
    }
    return true;
  }

  /**
   * Pins an entry: until {@link #unpin} no other writer changes its word, and readers see nothing
   * of that. For a change that other writers have come before too often. The methods that change an
   * entry take the word that this returns as the expected one, and end the pin.
   *
   * @return the word of the entry; 0 when it is free, or pending, so that others leave it alone
   */
  public long pin(long slot) {
    return locks.pin(Objects.checkIndex(slot, slots));
  }

  /** Gives a pinned entry its word back, unless it was changed. Without a pin it does nothing. */
  public void unpin() {
    locks.unpin();
  }

  /**
   * Sets which slots get no other entry from now on: an entry that is there may stay, change, be
   * emptied, or be moved to another table, but nothing is inserted or moved into such a slot, and
   * its entry is not displaced.
   */
  public void bar(long[] all) {
    barred = all.clone();
  }

  private boolean isBarred(long slot) {
    for (long each : barred) {
      if (each == slot) {
        return true;
      }
    }
    return false;
  }

  /** Waits until all flushed words are durable. */
  public void drain() {
    memory.drain();
  }

  // The steps that a resizing takes in its two tables; see Resizing.

  PersistentMemory memory() {
    return memory;
  }

  EntryLocks locks() {
    return locks;
  }

  /**
   * Whether the entry of a slot has a key word, and lies in the neighbourhood where readers search
   * that key word.
   */
  boolean isInPlace(long slot) {
    long keyWord = keyWord(slot);
    long home = Entry.bucket(keyWord, buckets);
    return keyWord != 0 && home <= slot && slot - home < Neighbourhood.ENTRIES;
  }

  /**
   * Whether the neighbourhood of {@code keyWord} is full of entries with the same home bucket as
   * that key word.
   */
  public boolean isCrowded(long keyWord) {
    long home = Entry.bucket(keyWord, buckets);
    return countAtHome(home, home, buckets) >= Neighbourhood.ENTRIES;
  }

  /**
   * The number of entries whose home in this table is {@code home}, and whose home in a table of
   * {@code otherBuckets} buckets is {@code otherHome}.
   */
  int countAtHome(long home, long otherHome, long otherBuckets) {
    int count = 0;
    for (long slot = home; slot < home + Neighbourhood.ENTRIES; slot++) {
      long keyWord = TableLayout.keyWord(segment, slot);
      if (Entry.bucket(keyWord, buckets) == home
          && Entry.bucket(keyWord, otherBuckets) == otherHome
          && VersionWord.inUse(TableLayout.versionWord(segment, slot))) {
        count++;
      }
    }
    return count;
  }

  /**
   * Clears the key words that are left in a key's neighbourhood, as an insertion into this table
   * does.
   */
  void clearLeft(long keyWord) {
    clearLeftKeyWords(Entry.bucket(keyWord, buckets));
  }

  /**
   * Stores the version word of a staged entry and flushes it. REQUIRES: a drain since {@link
   * #stage}, and nothing else was stored in between.
   */
  void fillStaged(long slot, long versionWord) {
    assert versionWord(slot) == 0 && isInPlace(slot) : "slot " + slot + " was not staged";
    putVersionWord(slot, versionWord);
    entries.added(slot);
  }

  /**
   * Marks an entry as moved and flushes the mark. REQUIRES: its copy is durable, and it is locked.
   *
   * @param word the word that the entry had before it was locked
   */
  void markMoved(long slot, long word) {
    assert versionWord(slot) == locks.locked(word)
        : slot + ": " + VersionWord.toString(versionWord(slot));
    putVersionWord(slot, VersionWord.MOVED);
    entries.freed(slot);
  }

  /**
   * Frees the slots in [begin, end) whose entries were moved, in the order of {@link #empty}; the
   * caller drains. Does the same for free slots in which a key word is left, because a process that
   * died may have freed them without a drain. Returns whether there were any.
   */
  boolean freeMoved(long begin, long end) {
    boolean any = false;
    for (long slot = begin; slot < end; slot++) {
      if (versionWord(slot) == VersionWord.MOVED) {
        putVersionWord(slot, 0);
        any = true;
      } else if (versionWord(slot) == 0 && keyWord(slot) != 0) {
        memory.flush(entryOffset(slot), Entry.BYTES);
        any = true;
      }
    }
    if (!any) {
      return false;
    }
    memory.drain();
    for (long slot = begin; slot < end; slot++) {
      if (versionWord(slot) == 0 && keyWord(slot) != 0) {
        putKeyWord(slot, 0);
      }
    }
    return true;
  }

  /**
   * Frees every entry with this key word and either this word or its newest version, and flushes
   * every other slot with the key word, because a process that died may have freed it without a
   * drain. The caller drains. The older version may differ, because an original that was locked has
   * forgotten it.
   */
  void removeCopies(long keyWord, long versionWord) {
    long home = Entry.bucket(keyWord, buckets);
    for (long slot = home; slot < home + Neighbourhood.ENTRIES; slot++) {
      if (TableLayout.keyWord(segment, slot) != keyWord) {
        continue;
      }
      long word = TableLayout.versionWord(segment, slot);
      boolean copy = word == versionWord || VersionWord.sameNewest(word, versionWord);
      if (VersionWord.inUse(word) && copy) {
        putVersionWord(slot, 0);
        clearFreed(slot);
      } else {
        memory.flush(entryOffset(slot), Entry.BYTES);
      }
    }
  }

  private boolean holds(long slot, long keyWord, long versionWord) {
    if (!VersionWord.inUse(versionWord)) {
      throw new IllegalArgumentException(
          "slot "
              + slot
              + ": a free entry is filled by insertion only, a moved one never: "
              + VersionWord.toString(versionWord));
    }
    return locks.has(slot, versionWord) && keyWord(slot) == keyWord;
  }

  /**
   * Stores and flushes a word over the one that is expected. Returns false when others are there.
   */
  private boolean replace(long slot, long keyWord, long expected, long next) {
    if (!holds(slot, keyWord, expected) || !locks.replace(slot, expected, next)) {
      return false;
    }
    memory.flush(entryOffset(slot) + Entry.VERSION_WORD_OFFSET, Long.BYTES);
    return true;
  }

  private void putVersionWord(long slot, long versionWord) {
    long offset = entryOffset(slot) + Entry.VERSION_WORD_OFFSET;
    memory.putLongRelease(offset, versionWord);
    memory.flush(offset, Long.BYTES);
  }

  /**
   * Makes those slots durably free that may only seem to be free. {@link #clearFreed} drains
   * between the stores of the version word and the key word. So only in a free slot with a left key
   * word can the emptied version word be not durable: a process crashed between the stores, and its
   * store is never drained. After a power failure the old version word could be beside the slot's
   * next key word, or this key's old entry could exist together with the new one in another slot of
   * the neighbourhood.
   */
  private void clearLeftKeyWords(long home) {
    for (long slot = home; slot < home + Neighbourhood.ENTRIES; slot++) {
      clearLeftKeyWord(slot);
    }
  }

  private void clearLeftKeyWord(long slot) {
    if (TableLayout.versionWord(segment, slot) == 0 && TableLayout.keyWord(segment, slot) != 0) {
      memory.flush(entryOffset(slot), Entry.BYTES);
      memory.drain();
      putKeyWord(slot, 0);
    }
  }

  private void putKeyWord(long slot, long keyWord) {
    memory.putLongRelease(entryOffset(slot) + Entry.KEY_WORD_OFFSET, keyWord);
    memory.flush(entryOffset(slot) + Entry.KEY_WORD_OFFSET, Long.BYTES);
  }

  /**
   * Fills a slot. The key word is durable before the version word is stored, so no version word but
   * 0 is ever durable beside the key word of another key.
   */
  private void fill(long slot, long keyWord, long versionWord) {
    assert versionWord(slot) == 0 && keyWord(slot) == 0
        : "slot " + slot + " is not free, or not clean";
    putKeyWord(slot, keyWord);
    assert isInPlace(slot) : "slot " + slot + " is out of reach for its key";
    memory.drain();
    putVersionWord(slot, versionWord);
    entries.added(slot);
  }

  /**
   * Clears the key word of an entry whose version word became 0. The version word is durably 0
   * before, for the same reason as in {@link #fill}.
   */
  private void clearFreed(long slot) {
    assert versionWord(slot) == 0 : slot + ": " + VersionWord.toString(versionWord(slot));
    memory.drain();
    putKeyWord(slot, 0);
    entries.freed(slot);
  }

  private long firstFree(long home) {
    long end = Math.min(slots, home + PROBE_SLOTS);
    for (long slot = home; slot < end; slot++) {
      if (TableLayout.versionWord(segment, slot) == 0 && !isBarred(slot)) {
        return slot;
      }
    }
    return NONE;
  }

  /**
   * Whether displacements bring a free slot from {@code free} into the neighbourhood of {@code
   * home}. Stores nothing: the entry to move depends only on slots below the free one, and earlier
   * moves have not changed these.
   *
   * <p>Only the first free slot has to be tried: to bring a farther one below {@code free}, some
   * entry from below must move to {@code free} or above it, and that entry could have moved to
   * {@code free}. For the same reason the choice among several movable entries does not matter for
   * success; the farthest entry needs the fewest moves.
   */
  private boolean reaches(long home, long free) {
    while (free != NONE && free - home >= Neighbourhood.ENTRIES) {
      free = movable(free);
    }
    return free != NONE;
  }

  /**
   * Returns the lowest slot whose entry may move to {@code free}: the entry is committed, and
   * {@code free} lies in its neighbourhood.
   */
  private long movable(long free) {
    for (long slot = Math.max(0, free - TableLayout.PADDING); slot < free; slot++) {
      long versionWord = TableLayout.versionWord(segment, slot);
      long home = Entry.bucket(TableLayout.keyWord(segment, slot), buckets);
      boolean decided = versionWord != 0 && !VersionWord.pending(versionWord);
      if (decided && home <= slot && free - home < Neighbourhood.ENTRIES && !isBarred(slot)) {
        return slot;
      }
    }
    return NONE;
  }
}
