package io.erda.server.engine.tables;

import io.erda.hashtable.VersionWord;

/**
 * The pending words of a store whose puts publish last, and the rule which code may decide them
 * (rule 3).
 *
 * <p>A pending word names a version that was not acknowledged. It is <em>live</em> as long as its
 * put is under way: only that put decides it, and all other code leaves it unchanged. When its put
 * no longer exists, because the server died or the put failed, the first operation that finds the
 * word rolls it back. Recovery has committed the words whose objects are whole.
 *
 * <p>Only this class knows which words are live. A put is pending only within one batch, so a count
 * is enough: while it is not 0, every pending word may be live. For puts that announce first,
 * {@code AnnouncedWords} knows each live word. One thread. Allocates nothing.
 */
public final class PendingWords implements Decisions {
  private final Tables tables;
  private final boolean pendingFirst;

  /** Number of words that puts have stored and not decided. */
  private int live;

  /**
   * @param pendingFirst whether a put stores its word pending first, because visible data may still
   *     be lost
   */
  public PendingWords(Tables tables, boolean pendingFirst) {
    this.tables = tables;
    this.pendingFirst = pendingFirst;
  }

  /** Whether a put first stores its word pending, and commits it when that is durable. */
  public boolean pendingFirst() {
    return pendingFirst;
  }

  /** Whether a word is pending and its put may still decide it. */
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
   * The word that a put stores over another one. When the other word is pending, storing the new
   * one also rolls it back. REQUIRES: the other word is not live.
   */
  public long over(long word, int offset) {
    assert !isLive(word) : "its put decides it: " + VersionWord.toString(word);
    long base = VersionWord.pending(word) ? VersionWord.rollback(word) : word;
    return VersionWord.update(base, offset, pendingFirst);
  }

  /**
   * Notes that a put has stored the word of {@link #first} or {@link #over}, and will commit it
   * later.
   */
  public void stored() {
    live += pendingFirst ? 1 : 0;
  }

  /**
   * Commits a version that is durable and whose word is durable as pending. REQUIRES: the caller is
   * the word's put, or recovery.
   *
   * @return false when the entry does not hold the word any more
   */
  public boolean commit(long entry, long keyWord, long word) {
    assert VersionWord.pending(word) : "committed twice: " + VersionWord.toString(word);
    return tables.storeWord(entry, keyWord, word, VersionWord.commit(word));
  }

  /** Notes that all words that puts have stored are decided. */
  public void allDecided() {
    live = 0;
  }

  /** Rolls back a word, unless it is live or not pending. */
  @Override
  public long decide(long entry, long keyWord, long word) {
    if (VersionWord.pending(word) && !isLive(word) && tables.rollback(entry, keyWord, word)) {
      return tables.versionWord(entry);
    }
    return word;
  }
}
