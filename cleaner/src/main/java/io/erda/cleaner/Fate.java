package io.erda.cleaner;

import io.erda.hashtable.VersionWord;

/**
 * What becomes of the object at an offset of the victim. Its key's word decides, not where the
 * object was met: so it makes no difference in which order the victim is walked (→ the paper walks
 * backwards because there the first meeting decides).
 */
enum Fate {
  /** No version of its key any more. */
  DEAD,
  /** It is copied, and the word names the copy. */
  COPY,
  /** The older version beside a committed one: nobody reads it, nothing falls back to it. */
  FORGET,
  /** A deleted key: its entry goes. */
  EMPTY,
  /** It is being committed: come back. */
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
   * @param olderGoes whether the older version lies in the victim too
   */
  static long moved(long word, int from, int to, boolean olderGoes) {
    if (VersionWord.newest(word) == from) {
      long moved = VersionWord.withNewest(word, to);
      return olderGoes ? VersionWord.withOlder(moved, VersionWord.NONE) : moved;
    }
    return VersionWord.withOlder(word, to);
  }
}
