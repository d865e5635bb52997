package io.erda.server.engine.tables;

/**
 * Decides pending words (rule 3): one implementation for each put mode. Whoever meets a pending
 * word and needs it decided asks here; nobody else takes a version back. One thread.
 */
public interface Decisions {
  /**
   * Decides a word that was met, unless it is not pending, or a put stands behind it that is going
   * to decide it. What it stores is flushed, and drained by the caller.
   *
   * @param word that the entry holds
   * @return the word that is there then; 0 when the entry is free; one that is still pending is
   *     live: come back
   */
  long decide(long entry, long keyWord, long word);

  /** Whether there may be words that are live: what they are in the way of may be possible soon. */
  boolean anyLive();
}
