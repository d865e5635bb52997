package io.erda.eval.baselines;

import io.erda.logstore.ObjectLayout;
import java.lang.foreign.MemorySegment;

/**
 * The place of the newest record of each key that is in the log and not applied: open addressing
 * with linear probing, in DRAM. Keys are compared with those in the records. One thread; allocates
 * when it grows.
 */
final class LogIndex {
  /** The key has no record. */
  static final long NONE = 0;

  private final RedoLog log;

  /** Key words; 0: free. Positions beside them. */
  private long[] words = new long[1 << 10];

  private long[] positions = new long[1 << 10];
  private int size;

  LogIndex(RedoLog log) {
    this.log = log;
  }

  /** The position of the newest record of a key, or {@link #NONE}. */
  long find(long keyWord, MemorySegment key, long keyAt, int keyLength) {
    return positions[slot(keyWord, key, keyAt, keyLength)];
  }

  /** Adds a record as the newest of its key, unless there is one at a higher position. */
  void put(long keyWord, long position) {
    MemorySegment records = log.segment();
    long at = log.objectAt(position);
    int keyLength = ObjectLayout.keyLength(records, at);
    int slot = slot(keyWord, records, at + ObjectLayout.KEY_OFFSET, keyLength);
    if (words[slot] == 0) {
      words[slot] = keyWord;
      size++;
    }
    positions[slot] = Math.max(positions[slot], position);
    if (2 * size > words.length) {
      grow();
    }
  }

  /** Removes the record of a key that was applied, unless there is a newer one. */
  void remove(long keyWord, long position) {
    int slot = home(keyWord);
    while (words[slot] != 0 && positions[slot] != position) {
      slot = next(slot);
    }
    if (words[slot] != 0) {
      empty(slot);
      size--;
    }
  }

  /** Whether a record is the newest of its key. */
  boolean isNewest(long keyWord, long position) {
    int slot = home(keyWord);
    while (words[slot] != 0 && positions[slot] != position) {
      slot = next(slot);
    }
    return words[slot] != 0;
  }

  private int slot(long keyWord, MemorySegment key, long keyAt, int keyLength) {
    int slot = home(keyWord);
    while (words[slot] != 0
        && !(words[slot] == keyWord
            && ObjectLayout.keyEquals(
                log.segment(), log.objectAt(positions[slot]), key, keyAt, keyLength))) {
      slot = next(slot);
    }
    return slot;
  }

  /** Frees a slot, and moves later entries into the gap, at which their search would end. */
  private void empty(int slot) {
    int gap = slot;
    for (int i = next(gap); words[i] != 0; i = next(i)) {
      int distance = i - home(words[i]) & words.length - 1;
      if (distance >= (i - gap & words.length - 1)) {
        words[gap] = words[i];
        positions[gap] = positions[i];
        gap = i;
      }
    }
    words[gap] = 0;
    positions[gap] = NONE;
  }

  private void grow() {
    long[] oldWords = words;
    long[] oldPositions = positions;
    words = new long[2 * oldWords.length];
    positions = new long[2 * oldWords.length];
    for (int i = 0; i < oldWords.length; i++) {
      if (oldWords[i] != 0) {
        int slot = home(oldWords[i]);
        while (words[slot] != 0) {
          slot = next(slot);
        }
        words[slot] = oldWords[i];
        positions[slot] = oldPositions[i];
      }
    }
  }

  private int home(long keyWord) {
    return (int) (keyWord ^ keyWord >>> 32) & words.length - 1;
  }

  private int next(int slot) {
    return slot + 1 & words.length - 1;
  }
}
