package io.erda.cleaner;

import java.lang.foreign.MemorySegment;

/**
 * The entries of the table, as the cleaner needs them; the engine implements it over table and
 * publication. The server's thread.
 *
 * <p>An entry is named by a slot, which is good until the next call from elsewhere.
 */
public interface Entries {
  /** No entry. */
  long NONE = -1;

  /** Shown the entries in use. */
  interface Visitor {
    /** May change the word of the entry it is shown, or empty the entry. */
    void entry(long slot, long keyWord, long word);
  }

  /**
   * Shows the next part of all entries. A whole sweep, from 0 on until {@link #NONE}, shows every
   * entry that was there all the time, at least once, while {@link #layout()} stays the same.
   *
   * @param cursor 0, or what the last call returned
   * @param count slots to look at, about
   * @return where to go on, or {@link #NONE} at the end
   */
  long sweep(long cursor, int count, Visitor visitor);

  /**
   * As {@link #sweep(long, int, Visitor)}, where entries need not be shown whose word has no offset
   * with these bits ({@link io.erda.hashtable.VersionWord#hasOffset}).
   */
  default long sweep(long cursor, int count, int mask, int bits, Visitor visitor) {
    return sweep(cursor, count, visitor);
  }

  /** Whether a sweep that goes on at {@code cursor} has been at an entry. */
  boolean isBehind(long slot, long cursor);

  /** Another number when entries moved in a way that a sweep under way may have missed. */
  long layout();

  /** How many slots a sweep looks at, about. */
  long slots();

  /** The entry whose word names {@code offset}, as newest or older version, or {@link #NONE}. */
  long find(long keyWord, int offset);

  /**
   * Loads what {@link #find} of these needs, before it is asked: none of the loads waits for
   * another one.
   */
  default void findSoon(long[] keyWords, int count) {}

  /** The version word of a slot. */
  long word(long slot);

  /** Stores a word and flushes it, if the entry still holds the other one; false otherwise. */
  boolean replace(long slot, long keyWord, long expected, long next);

  /** Frees an entry that is not pending, if it still holds the word; false otherwise. */
  boolean empty(long slot, long keyWord, long expected);

  /**
   * Takes back the newest version of a pending word that nobody can commit any more, and returns
   * the word that is there then; 0: the entry is free. The word itself: it is being committed.
   */
  long decide(long slot, long keyWord, long word);

  /** Waits until all that was stored here is durable. */
  void drain();

  /** The key word of {@code length} key bytes. */
  long keyWord(MemorySegment memory, long at, int length);
}
