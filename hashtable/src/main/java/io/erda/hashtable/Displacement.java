package io.erda.hashtable;

import static io.erda.hashtable.TableLayout.checksum;
import static io.erda.hashtable.TableLayout.entryOffset;
import static io.erda.hashtable.TableLayout.hex;
import static io.erda.hashtable.TableLayout.keyWord;
import static io.erda.hashtable.TableLayout.versionWord;

import io.erda.pmem.PersistentMemory;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;

/**
 * Moves an entry from one slot to another, so that a crash between any two stores neither loses nor
 * doubles the entry (design, "Moving an entry"). Also empties an entry, so that no reader sees the
 * entry gone and later sees it again.
 *
 * <p>K is the key word, w the version word (not pending), (x, y) an entry with key word x and
 * version word y. A power failure between two drains may keep any subset of the words stored since
 * the first drain, and lose the others. After a process crash memory has a prefix of the stores,
 * and it is unknown which of them are durable.
 *
 * <pre>
 *   step                                            durable once its drain returned
 *   0  source l, which locks it
 *   1  record; flush it and both entries; drain       record whole, destination (0, 0), source (K, l), valid word 0
 *   2  valid word; flush, drain                       the intent
 *   3  counter odd
 *   4  destination l, then K; flush, drain            destination (K, l)
 *   5  source 0, then 0; flush, drain                 source (0, 0)
 *   6  destination w, which unlocks it; flush; counter even
 *   7  valid word 0; flush, drain                     no intent, destination (K, w)
 * </pre>
 *
 * l is the locked w ({@link EntryLocks}); where there are no other writers it is w itself, and
 * nothing is stored for it. With other writers a word of the source changes until step 0, and one
 * of the destination from step 6 on.
 *
 * <p>Invariants, and what recovery concludes from them:
 *
 * <ol>
 *   <li>Valid word stored ⇒ record durable and whole, and the destination was durably (0, 0) (step
 *       1 drains before 2 stores). So an intent with a wrong checksum is damage, never a crash.
 *   <li>A word of the source or the destination entry changes only while the valid word is durable
 *       (2 drains before 4 stores; 5 drains before 7 stores). So no intent ⇒ the move has not begun
 *       or is complete.
 *   <li>Source word 0 ⇒ destination (K, l) durable (4 drains before 5 stores). So with an intent:
 *       source word 0 ⇒ only the source tag may be left, clear it, and unlock the destination if it
 *       is locked; source word l or w ⇒ the destination may be anything, store it again. Both steps
 *       may be repeated any number of times with the same result.
 *   <li>Between 2 and 7 only these steps store version words of the table (the table has one
 *       thread, other writers leave l alone, and open() replays before it returns), but that others
 *       may replace w in the destination after 6; and 7 drains before any later store. So an intent
 *       meets an entry that was updated, reused or moved later only beside a source that is durably
 *       0, where a replay stores w over l alone. It can't bring back an old version. Without the
 *       lock of the destination it could: the source might be l again after a power failure between
 *       4 and 5.
 *   <li>Replay begins by flushing and draining the intent it read: after a process crash a valid
 *       word (or its clearing) may be seen and yet be lost by a power failure later, which would
 *       break 2 or 4.
 * </ol>
 *
 * <p>Emptying: steps 0 to 2, with one slot for both and a valid word of its own, then 5 and 7. The
 * entry's word is 0 only once the intent is durable, and with the intent a crash at any time ends
 * in an empty entry. So a reader that saw the entry gone never sees it again, even if the word that
 * it saw was not durable yet.
 */
final class Displacement {
  private final PersistentMemory memory;
  private final MemorySegment segment;
  private final StructureCounter counter;
  private final long buckets;
  private final EntryLocks locks;

  Displacement(PersistentMemory memory, StructureCounter counter, long buckets, EntryLocks locks) {
    this.memory = memory;
    this.segment = memory.segment();
    this.counter = counter;
    this.buckets = buckets;
    this.locks = locks;
  }

  /**
   * Moves an entry, durably.
   *
   * <p>REQUIRES: source is in use and not pending; destination is (0, 0), its version word durably,
   * and in the neighbourhood of source's home bucket.
   */
  void move(long source, long destination) {
    long keyWord = keyWord(segment, source);
    assert keyWord(segment, destination) == 0 && versionWord(segment, destination) == 0
        : "slot " + destination + " is not free";
    assert Intent.inNeighbourhood(destination, Entry.bucket(keyWord, buckets))
        : "slot " + destination + " is out of reach for " + hex(keyWord);
    long versionWord = locks.lock(source);
    assert versionWord != 0 : "slot " + source + " is free or pending";
    storeIntent(source, destination, keyWord, versionWord, TableLayout.MOVING);
    counter.beginMove();
    try {
      carry(source, destination, keyWord, versionWord);
    } catch (UncheckedIOException e) {
      // The device failed or is full. The entry is in at least one of its two slots, and nothing is
      // stored until the table is opened again. So the counter becomes even, and a reader that
      // finds no entry may conclude that there is none. An InternalError means that the file itself
      // went away. It is not caught, and the counter stays odd, because it is unknown what was
      // stored.
      counter.endMove();
      throw e;
    }
    counter.endMove();
    clearIntent();
  }

  /**
   * Frees an entry, durably, if it has a version word that is expected. No reader sees the entry
   * free before that is sure to survive a crash.
   *
   * @param expected the word of an entry in use, not pending
   * @return false when the entry has another word; then nothing is stored
   */
  boolean empty(long slot, long expected) {
    assert expected != 0 && !VersionWord.pending(expected)
        : slot + ": " + VersionWord.toString(expected);
    if (!locks.lock(slot, expected)) {
      return false;
    }
    storeIntent(slot, slot, keyWord(segment, slot), expected, TableLayout.EMPTYING);
    clearSource(slot);
    clearIntent();
    return true;
  }

  /**
   * Finishes the move or emptying that a crash interrupted, if there is one. The counter is even
   * and higher afterwards in any case.
   *
   * @throws DamagedTableException when the intent, or one of the two slots, has a value that no
   *     crash can leave; then nothing is stored
   */
  void recover() {
    memory.flush(TableLayout.INTENT_OFFSET, TableLayout.INTENT_BYTES);
    memory.drain();
    Intent intent = Intent.load(segment, buckets);
    if (intent == null) {
      counter.beginMove();
      counter.endMove();
      return;
    }
    intent.requireReplayable(segment);
    counter.beginMove();
    if (intent.emptying()) {
      clearSource(intent.source);
    } else if (versionWord(segment, intent.source) != 0) {
      carry(intent.source, intent.destination, intent.keyWord, intent.versionWord);
    } else {
      clearSourceTag(intent.source);
      locks.unlock(intent.destination, intent.versionWord);
    }
    counter.endMove();
    clearIntent();
  }

  private void storeIntent(
      long source, long destination, long keyWord, long versionWord, long valid) {
    assert TableLayout.load(segment, TableLayout.VALID_OFFSET) == 0 : "an intent is there already";
    memory.putLongRelease(TableLayout.SOURCE_OFFSET, source);
    memory.putLongRelease(TableLayout.DESTINATION_OFFSET, destination);
    memory.putLongRelease(TableLayout.INTENT_KEY_WORD_OFFSET, keyWord);
    memory.putLongRelease(TableLayout.INTENT_VERSION_WORD_OFFSET, versionWord);
    memory.putLongRelease(
        TableLayout.INTENT_CHECKSUM_OFFSET, checksum(source, destination, keyWord, versionWord));
    // Flush both entries, because stores of a process that crashed may not be durable yet.
    memory.flush(entryOffset(destination), Entry.BYTES);
    memory.flush(entryOffset(source), Entry.BYTES);
    memory.flush(TableLayout.INTENT_OFFSET, TableLayout.INTENT_BYTES);
    memory.drain();
    storeValidWord(valid);
  }

  private void carry(long source, long destination, long keyWord, long versionWord) {
    assert isIntended() : "slot " + destination + " changes without an intent";
    long locked = locks.locked(versionWord);
    memory.putLongRelease(entryOffset(destination) + Entry.VERSION_WORD_OFFSET, locked);
    memory.putLongRelease(entryOffset(destination) + Entry.KEY_WORD_OFFSET, keyWord);
    memory.flush(entryOffset(destination), Entry.BYTES);
    memory.drain();
    assert keyWord(segment, destination) == keyWord && versionWord(segment, destination) == locked
        : "slot " + source + " is cleared before slot " + destination + " holds its entry";
    clearSource(source);
    locks.unlock(destination, versionWord);
  }

  private void clearSource(long source) {
    assert isIntended() : "slot " + source + " changes without an intent";
    memory.putLongRelease(entryOffset(source) + Entry.VERSION_WORD_OFFSET, 0);
    clearSourceTag(source);
  }

  /** Flushes the whole entry, because the store of its version word may never have been flushed. */
  private void clearSourceTag(long source) {
    memory.putLongRelease(entryOffset(source) + Entry.KEY_WORD_OFFSET, 0);
    memory.flush(entryOffset(source), Entry.BYTES);
    memory.drain();
  }

  private boolean isIntended() {
    return TableLayout.load(segment, TableLayout.VALID_OFFSET) != 0;
  }

  private void clearIntent() {
    assert isIntended() : "there is no intent to clear";
    storeValidWord(0);
  }

  private void storeValidWord(long valid) {
    memory.putLongRelease(TableLayout.VALID_OFFSET, valid);
    memory.flush(TableLayout.VALID_OFFSET, Long.BYTES);
    memory.drain();
  }

  /** A valid intent that was loaded. */
  record Intent(long source, long destination, long keyWord, long versionWord) {
    /**
     * The intent in the memory, or null when there is none.
     *
     * @throws DamagedTableException when it has a value that {@link #move} and {@link #empty} never
     *     store
     */
    static Intent load(MemorySegment segment, long buckets) {
      long valid = TableLayout.load(segment, TableLayout.VALID_OFFSET);
      if (valid == 0) {
        return null;
      }
      long source = TableLayout.load(segment, TableLayout.SOURCE_OFFSET);
      long destination = TableLayout.load(segment, TableLayout.DESTINATION_OFFSET);
      long keyWord = TableLayout.load(segment, TableLayout.INTENT_KEY_WORD_OFFSET);
      long versionWord = TableLayout.load(segment, TableLayout.INTENT_VERSION_WORD_OFFSET);
      long sum = TableLayout.load(segment, TableLayout.INTENT_CHECKSUM_OFFSET);
      Intent intent = new Intent(source, destination, keyWord, versionWord);
      if (valid != (intent.emptying() ? TableLayout.EMPTYING : TableLayout.MOVING)
          || sum != checksum(source, destination, keyWord, versionWord)) {
        throw new DamagedTableException(
            "intent is damaged: valid word "
                + hex(valid)
                + ", checksum "
                + hex(sum)
                + ", "
                + intent);
      }
      long home = Entry.bucket(keyWord, buckets);
      if (!inNeighbourhood(source, home) || !inNeighbourhood(destination, home)) {
        throw new DamagedTableException(
            "intent names slots outside the neighbourhood of bucket " + home + ": " + intent);
      }
      return intent;
    }

    private static boolean inNeighbourhood(long slot, long home) {
      return slot >= home && slot - home < Neighbourhood.ENTRIES;
    }

    /** Whether this is the intent of an emptying; otherwise it is that of a move. */
    boolean emptying() {
      return source == destination;
    }

    /**
     * Throws unless the two slots have values that a crash within {@link #move}, {@link #empty} or
     * {@link #recover} can leave.
     */
    void requireReplayable(MemorySegment segment) {
      long sourceKey = TableLayout.keyWord(segment, source);
      long sourceWord = TableLayout.versionWord(segment, source);
      long destinationKey = TableLayout.keyWord(segment, destination);
      long destinationWord = TableLayout.versionWord(segment, destination);
      boolean sourcePossible =
          (sourceKey == keyWord || sourceKey == 0) && (isOfMove(sourceWord) || sourceWord == 0);
      boolean destinationPossible =
          emptying()
              || (sourceWord == 0
                  ? destinationKey == keyWord && destinationWord != 0
                  : (destinationKey == keyWord || destinationKey == 0)
                      && (isOfMove(destinationWord) || destinationWord == 0));
      if (!sourcePossible || !destinationPossible) {
        throw new DamagedTableException(
            "slots do not fit the intent: source "
                + hex(sourceKey)
                + " "
                + hex(sourceWord)
                + ", destination "
                + hex(destinationKey)
                + " "
                + hex(destinationWord)
                + ", "
                + this);
      }
    }

    /** Whether a word is the intent's, locked or not. */
    private boolean isOfMove(long word) {
      return word == versionWord || VersionWord.isLockOf(word, versionWord);
    }

    @Override
    public String toString() {
      return (emptying() ? "emptying of " : "move of ")
          + hex(keyWord)
          + " "
          + hex(versionWord)
          + " from slot "
          + source
          + " to slot "
          + destination;
    }
  }
}
