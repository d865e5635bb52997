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
 *   1  record; flush it and both entries; drain       record whole, destination (0, 0), source (K, w), valid word 0
 *   2  valid word; flush, drain                       the intent
 *   3  counter odd
 *   4  destination w, then K; flush, drain            destination (K, w)
 *   5  source 0, then 0; flush, drain                 source (0, 0)
 *   6  counter even
 *   7  valid word 0; flush, drain                     no intent
 * </pre>
 *
 * Invariants, and what recovery concludes from them:
 *
 * <ol>
 *   <li>Valid word stored ⇒ record durable and whole, and the destination was durably (0, 0) (step
 *       1 drains before 2 stores). So an intent with a wrong checksum is damage, never a crash.
 *   <li>A word of the source or the destination entry changes only while the valid word is durable
 *       (2 drains before 4 stores; 5 drains before 7 stores). So no intent ⇒ the move has not begun
 *       or is complete.
 *   <li>Source word ≠ w ⇒ destination (K, w) durable (4 drains before 5 stores). So with an intent:
 *       source word 0 ⇒ only the source tag may be left, clear it; source word w ⇒ the destination
 *       may be anything, store it again. Both steps may be repeated any number of times with the
 *       same result.
 *   <li>Between 2 and 7 only these steps store version words of the table (the table has one
 *       thread, and open() replays before it returns), and 7 drains before any later store. So an
 *       intent never meets an entry that was updated, reused or moved later, and a replay can't
 *       bring back an old version.
 *   <li>Replay begins by flushing and draining the intent it read: after a process crash a valid
 *       word (or its clearing) may be seen and yet be lost by a power failure later, which would
 *       break 2 or 4.
 * </ol>
 *
 * <p>Emptying: steps 1 and 2, with one slot for both and a valid word of its own, then 5 and 7. The
 * entry's word is 0 only once the intent is durable, and with the intent a crash at any time ends
 * in an empty entry. So a reader that saw the entry gone never sees it again, even if the word that
 * it saw was not durable yet.
 */
final class Displacement {
  private final PersistentMemory memory;
  private final MemorySegment segment;
  private final StructureCounter counter;
  private final long buckets;

  Displacement(PersistentMemory memory, StructureCounter counter, long buckets) {
    this.memory = memory;
    this.segment = memory.segment();
    this.counter = counter;
    this.buckets = buckets;
  }

  /**
   * Moves an entry, durably.
   *
   * <p>REQUIRES: source is in use and not pending; destination is (0, 0), its version word durably,
   * and in the neighbourhood of source's home bucket.
   */
  void move(long source, long destination) {
    long keyWord = keyWord(segment, source);
    long versionWord = versionWord(segment, source);
    assert isDecided(versionWord) : source + ": " + VersionWord.toString(versionWord);
    assert keyWord(segment, destination) == 0 && versionWord(segment, destination) == 0
        : "slot " + destination + " is not free";
    assert Intent.inNeighbourhood(destination, Entry.bucket(keyWord, buckets))
        : "slot " + destination + " is out of reach for " + hex(keyWord);
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
   * Frees an entry, durably. No reader sees the entry free before that is sure to survive a crash.
   *
   * <p>REQUIRES: the entry is in use and not pending.
   */
  void empty(long slot) {
    long versionWord = versionWord(segment, slot);
    assert isDecided(versionWord) : slot + ": " + VersionWord.toString(versionWord);
    storeIntent(slot, slot, keyWord(segment, slot), versionWord, TableLayout.EMPTYING);
    clearSource(slot);
    clearIntent();
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
    }
    counter.endMove();
    clearIntent();
  }

  /** Whether an entry with this word is in use and not pending. */
  private static boolean isDecided(long versionWord) {
    return versionWord != 0 && !VersionWord.pending(versionWord);
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
    memory.putLongRelease(entryOffset(destination) + Entry.VERSION_WORD_OFFSET, versionWord);
    memory.putLongRelease(entryOffset(destination) + Entry.KEY_WORD_OFFSET, keyWord);
    memory.flush(entryOffset(destination), Entry.BYTES);
    memory.drain();
    assert keyWord(segment, destination) == keyWord
            && versionWord(segment, destination) == versionWord
        : "slot " + source + " is cleared before slot " + destination + " holds its entry";
    clearSource(source);
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
          (sourceKey == keyWord || sourceKey == 0)
              && (sourceWord == versionWord || sourceWord == 0);
      boolean destinationPossible =
          emptying()
              || (sourceWord == 0
                  ? destinationKey == keyWord && destinationWord != 0
                  : (destinationKey == keyWord || destinationKey == 0)
                      && (destinationWord == versionWord || destinationWord == 0));
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
