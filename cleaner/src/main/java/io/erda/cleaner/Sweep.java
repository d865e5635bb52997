package io.erda.cleaner;

import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;

/**
 * A sweep over the table, which marks the places of a victim that words name, and drops older
 * versions there that are not needed. It begins again when the table's layout changes.
 */
final class Sweep {
  /**
   * The least number of slots that a step visits. A step visits more in a large table, so that the
   * sweep ends in time.
   */
  private static final int SLOTS_MIN = 64;

  private static final int SLOTS_MAX = 512;
  private static final int STEPS = 4096;

  private final Entries entries;
  private final Victim victim;
  private final PlaceSet places;
  private final Entries.Visitor marking = this::mark;
  private long cursor;
  private long layout;
  private int slots;
  private boolean found;
  private boolean carries;
  private boolean damagedWord;
  private long later;

  Sweep(Entries entries, Victim victim, PlaceSet places) {
    this.entries = entries;
    this.victim = victim;
    this.places = places;
  }

  void begin() {
    cursor = 0;
    later = 0;
    layout = entries.layout();
    slots = Math.clamp(entries.slots() / STEPS, SLOTS_MIN, SLOTS_MAX);
    found = false;
    carries = false;
  }

  /** Takes one step. Returns whether the sweep is done. */
  boolean step() {
    if (entries.layout() != layout) {
      places.clear();
      begin();
    }
    cursor = entries.sweep(cursor, slots, victim.geometry.regionMask(), victim.offsetBits, marking);
    if (cursor != Entries.NONE) {
      return false;
    }
    cursor = 0;
    return true;
  }

  /** Whether a word that names the victim was found. */
  boolean found() {
    return found;
  }

  /** Whether a tombstone may be an older version that is still needed, and must be copied. */
  boolean carries() {
    return carries;
  }

  /** Whether a word that names the victim has a value that is never stored. */
  boolean damagedWord() {
    return damagedWord;
  }

  /** Returns the number of pending words that name the victim. A later sweep marks their places. */
  long later() {
    return later;
  }

  /** The progress, thousandths. */
  long progress() {
    return 1000 * cursor / Math.max(1, entries.slots());
  }

  private void mark(long slot, long keyWord, long seen) {
    if (Entry.headOf(keyWord) != victim.region.head() || !victim.isNamedBy(seen)) {
      return;
    }
    long word = VersionWord.pending(seen) ? entries.decide(slot, keyWord, seen) : seen;
    if (!victim.isNamedBy(word)) {
      return;
    }
    found = true;
    boolean pending = VersionWord.pending(word);
    if (victim.holds(VersionWord.newest(word))) {
      if (!pending) {
        places.add(victim.geometry.place(VersionWord.newest(word)));
        return;
      }
      later++;
    }
    if (victim.holds(VersionWord.older(word))) {
      if (pending) {
        carries = true;
        places.add(victim.geometry.place(VersionWord.older(word)));
      } else if (VersionWord.newest(word) == VersionWord.NONE) {
        // A committed word always has a newest version, so this word is damaged, and it may name
        // the only version of its key.
        damagedWord = true;
      } else {
        // Another writer that has changed the word has dropped the older version by that.
        entries.replace(slot, keyWord, word, VersionWord.withOlder(word, VersionWord.NONE));
      }
    }
  }
}
