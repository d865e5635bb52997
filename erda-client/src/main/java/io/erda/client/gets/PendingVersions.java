package io.erda.client.gets;

import io.erda.hashtable.Neighbourhood;
import io.erda.hashtable.VersionWord;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * What one look-up of a get or an iteration met of pending words, in a store whose puts announce
 * first: there the newest version of a pending word counts when it is whole, and the one before
 * while it is not (Erda paper, section 4.2). What was concluded from it holds if the words are the
 * same afterwards and nothing was judged meanwhile: decision "Announce first".
 *
 * <p>Used again for the next look-up; allocates nothing.
 */
public final class PendingVersions {
  /** In place of the new table's neighbourhood: there is one table. */
  public static final long NO_TABLE = -1;

  /** The words of the key's entries, in the old table's neighbourhood, then in the new one's. */
  private final long[] words = new long[2 * Neighbourhood.ENTRIES];

  private boolean met;
  private long word;
  private boolean looking;

  /** The offset that was found torn last; {@link VersionWord#NONE} when there is none. */
  private int torn;

  /** A look-up begins. */
  public void begin() {
    met = false;
    looking = false;
    torn = VersionWord.NONE;
  }

  /** Whether any were met: then the words have to be looked at again. */
  public boolean met() {
    return met;
  }

  /** Whether a word names a version that is to be looked at, though it is pending. */
  public static boolean counts(long word) {
    return VersionWord.pending(word) && VersionWord.newest(word) != VersionWord.NONE;
  }

  /**
   * The newest version of a pending word is looked at. Notes the words at the first one.
   *
   * @param tableAt where the neighbourhood lies that was READ of the old table
   * @param nextAt the same of the new one, or {@link #NO_TABLE}
   * @return its offset
   */
  public int look(MemorySegment memory, long tableAt, long nextAt, long keyWord, long pendingWord) {
    if (!met) {
      met = true;
      collect(memory, tableAt, nextAt, keyWord);
    }
    word = pendingWord;
    looking = true;
    return VersionWord.newest(pendingWord);
  }

  /** Whether what is being READ is the newest version of a pending word. */
  public boolean looking() {
    return looking;
  }

  /** A committed version is READ. */
  public void lookElsewhere() {
    looking = false;
  }

  /**
   * What is looked at is not whole.
   *
   * @return the offset of the version before, or {@link VersionWord#NONE}
   */
  public int onTorn() {
    looking = false;
    torn = VersionWord.newest(word);
    return VersionWord.older(word);
  }

  /** The offset that was found torn, or {@link VersionWord#NONE}. */
  public int torn() {
    return torn;
  }

  private void collect(MemorySegment memory, long tableAt, long nextAt, long keyWord) {
    Arrays.fill(words, 0);
    for (int i = 0; i < words.length; i++) {
      words[i] = wordOf(memory, tableAt, nextAt, keyWord, i);
    }
  }

  /** Whether the neighbourhoods, READ again, have the same words of the key. */
  public boolean unchanged(MemorySegment memory, long tableAt, long nextAt, long keyWord) {
    for (int i = 0; i < words.length; i++) {
      if (words[i] != wordOf(memory, tableAt, nextAt, keyWord, i)) {
        return false;
      }
    }
    return true;
  }

  /** The version word of an entry, or 0 when it is another key's, or there is none. */
  private static long wordOf(MemorySegment memory, long tableAt, long nextAt, long keyWord, int i) {
    long at = i < Neighbourhood.ENTRIES ? tableAt : nextAt;
    int index = i % Neighbourhood.ENTRIES;
    return at != NO_TABLE && Neighbourhood.keyWord(memory, at, index) == keyWord
        ? Neighbourhood.versionWord(memory, at, index)
        : 0;
  }
}
