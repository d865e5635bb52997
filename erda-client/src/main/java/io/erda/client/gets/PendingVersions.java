package io.erda.client.gets;

import io.erda.hashtable.Neighbourhood;
import io.erda.hashtable.VersionWord;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The pending words that one look-up of a get or an iteration found, in a store whose puts announce
 * first. In such a store the reader takes the newest version of a pending word when its object is
 * whole, else the version before it (Erda paper, section 4.2). The reader's result is valid if a
 * second look-up finds the same words, and no word was judged in between: decision "Announce
 * first".
 *
 * <p>Reused for the next look-up; allocates nothing.
 */
public final class PendingVersions {
  /** Stands for the new table's neighbourhood when there is only one table. */
  public static final long NO_TABLE = -1;

  /** The words of the key's entries, in the old table's neighbourhood, then in the new one's. */
  private final long[] words = new long[2 * Neighbourhood.ENTRIES];

  private boolean met;
  private long word;
  private boolean looking;

  /** The offset whose object was last found torn; {@link VersionWord#NONE} when there is none. */
  private int torn;

  /** Begins a look-up. */
  public void begin() {
    met = false;
    looking = false;
    torn = VersionWord.NONE;
  }

  /** Whether pending words were found, so that the words must be READ again. */
  public boolean met() {
    return met;
  }

  /** Whether a word is pending and names a version that must be examined. */
  public static boolean counts(long word) {
    return VersionWord.pending(word) && VersionWord.newest(word) != VersionWord.NONE;
  }

  /**
   * Begins to examine the newest version of a pending word. The first call in a look-up notes all
   * words of the key.
   *
   * @param tableAt where the copy of the old table's neighbourhood lies
   * @param nextAt where the copy of the new table's neighbourhood lies, or {@link #NO_TABLE}
   * @return the version's offset
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

  /** Whether the newest version of a pending word is being READ. */
  public boolean looking() {
    return looking;
  }

  /** Notes that a committed version is READ instead of a pending one. */
  public void lookElsewhere() {
    looking = false;
  }

  /**
   * Notes that the examined version is not whole.
   *
   * @return the offset of the version before, or {@link VersionWord#NONE}
   */
  public int onTorn() {
    looking = false;
    torn = VersionWord.newest(word);
    return VersionWord.older(word);
  }

  /** The offset whose object was found torn, or {@link VersionWord#NONE}. */
  public int torn() {
    return torn;
  }

  private void collect(MemorySegment memory, long tableAt, long nextAt, long keyWord) {
    Arrays.fill(words, 0);
    for (int i = 0; i < words.length; i++) {
      words[i] = wordOf(memory, tableAt, nextAt, keyWord, i);
    }
  }

  /** Whether the neighbourhoods, READ again, have the same words for the key. */
  public boolean unchanged(MemorySegment memory, long tableAt, long nextAt, long keyWord) {
    for (int i = 0; i < words.length; i++) {
      if (words[i] != wordOf(memory, tableAt, nextAt, keyWord, i)) {
        return false;
      }
    }
    return true;
  }

  /** The version word of an entry, or 0 when the entry is another key's, or there is none. */
  private static long wordOf(MemorySegment memory, long tableAt, long nextAt, long keyWord, int i) {
    long at = i < Neighbourhood.ENTRIES ? tableAt : nextAt;
    int index = i % Neighbourhood.ENTRIES;
    return at != NO_TABLE && Neighbourhood.keyWord(memory, at, index) == keyWord
        ? Neighbourhood.versionWord(memory, at, index)
        : 0;
  }
}
