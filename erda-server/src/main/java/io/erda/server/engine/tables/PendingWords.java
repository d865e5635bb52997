package io.erda.server.engine.tables;

import io.erda.hashtable.VersionWord;

/**
 * The words that are pending in a store whose puts publish last, and who may decide them (rule 3).
 *
 * <p>A pending word names a version that nobody was told of. It is <em>live</em> as long as a put
 * stands behind it that will decide it: that put alone commits it, and whoever else meets it leaves
 * it alone. A word behind which nobody stands any more, because the server died or the put failed,
 * is rolled back by whoever meets it first; recovery has committed those whose objects are whole.
 *
 * <p>Which words are live is known here and nowhere else. Today a put is pending within one batch
 * only, so a count is enough: while it is not 0, every pending word that is met may be a live one.
 * Where the object is still to come, {@code AnnouncedWords} knows each of them. One thread.
 * Allocates nothing.
 */
public final class PendingWords implements Decisions {
  private final Tables tables;
  private final boolean pendingFirst;

  /** Words that puts have stored and not decided. */
  private int live;

  /**
   * @param pendingFirst whether a put stores its word pending first, because what is visible may
   *     still be lost
   */
  public PendingWords(Tables tables, boolean pendingFirst) {
    this.tables = tables;
    this.pendingFirst = pendingFirst;
  }

  /** Whether a put stores its word pending, to commit it when that is durable. */
  public boolean pendingFirst() {
    return pendingFirst;
  }

  /** Whether a word is pending and a put may stand behind it that is going to decide it. */
  public boolean isLive(long word) {
    return VersionWord.pending(word) && live > 0;
  }

  @Override
  public boolean anyLive() {
    return live > 0;
  }

  /** The word that a put stores for a key without an entry. */
  public long first(int offset) {
    return VersionWord.first(offset, pendingFirst);
  }

  /**
   * The word that a put stores over another one. Where that is pending it is rolled back in the
   * same store. REQUIRES: it is not live.
   */
  public long over(long word, int offset) {
    assert !isLive(word) : "its put decides it: " + VersionWord.toString(word);
    long base = VersionWord.pending(word) ? VersionWord.rollback(word) : word;
    return VersionWord.update(base, offset, pendingFirst);
  }

  /** A put has stored what {@link #first} or {@link #over} gave it, and commits it later. */
  public void stored() {
    live += pendingFirst ? 1 : 0;
  }

  /**
   * Commits a version that is durable and whose word is durable as pending. REQUIRES: the caller is
   * the put that stored the word, or recovery.
   *
   * @return false when the entry does not hold the word any more
   */
  public boolean commit(long entry, long keyWord, long word) {
    assert VersionWord.pending(word) : "committed twice: " + VersionWord.toString(word);
    return tables.storeWord(entry, keyWord, word, VersionWord.commit(word));
  }

  /** All words that puts have stored are decided. */
  public void allDecided() {
    live = 0;
  }

  /** Rolls back a word that was met, unless it is live or not pending. */
  @Override
  public long decide(long entry, long keyWord, long word) {
    if (VersionWord.pending(word) && !isLive(word) && tables.rollback(entry, keyWord, word)) {
      return tables.versionWord(entry);
    }
    return word;
  }
}
