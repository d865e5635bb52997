package io.erda.cleaner;

import io.erda.hashtable.VersionWord;

/**
 * The action for the object at an offset of the victim. Its key's word decides, so the order in
 * which the victim is walked does not matter (the paper walks backwards, because there the object
 * found first decides).
 */
enum Fate {
  /** The object is no longer a version of its key. */
  DEAD,
  /** The object is copied, and the word changed to name the copy. */
  COPY,
  /** The object is an older version that is not needed any more; it is removed from the word. */
  FORGET,
  /** The object is the tombstone of a deleted key, whose entry is emptied. */
  EMPTY,
  /** The object is being committed; the next sweep decides about it. */
  LATER;

  static Fate of(long word, int offset, boolean tombstone) {
    if (VersionWord.newest(word) == offset) {
      if (VersionWord.pending(word)) {
        return LATER;
      }
      return tombstone ? EMPTY : COPY;
    }
    if (VersionWord.older(word) == offset) {
      return VersionWord.pending(word) ? COPY : FORGET;
    }
    return DEAD;
  }

  /**
   * The word after a {@link #COPY}.
   *
   * @param olderGoes whether the older version is removed from the word, because it lies in the
   *     victim, too
   */
  static long moved(long word, int from, int to, boolean olderGoes) {
    if (VersionWord.newest(word) == from) {
      long moved = VersionWord.withNewest(word, to);
      return olderGoes ? VersionWord.withOlder(moved, VersionWord.NONE) : moved;
    }
    return VersionWord.withOlder(word, to);
  }
}
