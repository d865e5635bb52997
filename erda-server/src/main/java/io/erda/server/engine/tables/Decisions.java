package io.erda.server.engine.tables;

/**
 * Decides pending words (rule 3): one implementation for each put mode. All code that needs a
 * pending word decided calls this interface; no other code takes a version back. One thread.
 */
public interface Decisions {
  /**
   * Decides a word, unless it is not pending, or a put will still decide it. Stores are flushed;
   * the caller drains them.
   *
   * @param word the word that the entry holds
   * @return the entry's word after the call; 0 when the entry is free. A word that is still pending
   *     is live: try again later
   */
  long decide(long entry, long keyWord, long word);

  /**
   * Whether there may be live words. They will be decided soon, so work that they prevent is worth
   * another try.
   */
  boolean anyLive();
}
