package io.erda.cleaner;

import java.lang.foreign.MemorySegment;

/**
 * The cleaner's interface to the entries of the table; the engine implements it over table and
 * publication. For the server's thread.
 *
 * <p>An entry is named by a slot, which is valid until the next call from elsewhere.
 */
public interface Entries {
  /** No entry. */
  long NONE = -1;

  /** Receives the entries in use. */
  interface Visitor {
    /** Called for an entry. The visitor may change the word of the entry, or empty the entry. */
    void entry(long slot, long keyWord, long word);
  }

  /**
   * Calls the visitor for the next part of all entries. A whole sweep, from 0 on until {@link
   * #NONE}, visits every entry that exists all the time at least once, if {@link #layout()} stays
   * the same.
   *
   * @param cursor 0, or the result of the last call
   * @param count about how many slots to visit
   * @return the cursor for the next call, or {@link #NONE} at the end
   */
  long sweep(long cursor, int count, Visitor visitor);

  /**
   * As {@link #sweep(long, int, Visitor)}, but entries may be skipped whose word has no offset with
   * these bits ({@link io.erda.hashtable.VersionWord#hasOffset}).
   */
  default long sweep(long cursor, int count, int mask, int bits, Visitor visitor) {
    return sweep(cursor, count, visitor);
  }

  /** Whether a sweep at {@code cursor} has already visited an entry. */
  boolean isBehind(long slot, long cursor);

  /**
   * Returns a number that changes when entries have moved in such a way that a sweep under way may
   * have missed them.
   */
  long layout();

  /** About how many slots a sweep visits. */
  long slots();

  /** The entry whose word names {@code offset}, as newest or older version, or {@link #NONE}. */
  long find(long keyWord, int offset);

  /** Loads the memory that {@link #find} of these will need, so that the cache misses overlap. */
  default void findSoon(long[] keyWords, int count) {}

  /** The version word of a slot. */
  long word(long slot);

  /**
   * Stores and flushes a word, if the entry still holds the expected one; otherwise returns false.
   */
  boolean replace(long slot, long keyWord, long expected, long next);

  /**
   * Frees an entry that is not pending, if it still holds the expected word; otherwise returns
   * false.
   */
  boolean empty(long slot, long keyWord, long expected);

  /**
   * Rolls back the newest version of a pending word that will not be committed, and returns the
   * word afterwards; 0: the entry is free. Returns the word unchanged when it is being committed.
   */
  long decide(long slot, long keyWord, long word);

  /** Waits until all stores through this interface are durable. */
  void drain();

  /** The key word of {@code length} key bytes. */
  long keyWord(MemorySegment memory, long at, int length);
}
