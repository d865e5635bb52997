package io.erda.server.engine.tables;

/**
 * Decides pending words (rule 3): one implementation for each put mode. All code that needs a
 * pending word decided asks here; only this takes a version back. One thread.
 */
public interface Decisions {
  /**
   * Decides a word, unless it is not pending, or a put will still decide it. Stores are flushed;
   * the caller drains them.
   *
   * @param word that the entry holds
   * @return the entry's word afterwards; 0 when the entry is free; a word that is still pending is
   *     live: try again later
   */
  long decide(long entry, long keyWord, long word);

  /** Whether there may be live words, so that something they prevent may be possible soon. */
  boolean anyLive();
}
