package io.erda.hashtable;

/** Says who changes the version words of a table. */
public enum Writers {
  /** The table's server is the only writer. */
  ALONE,

  /**
   * Others replace decided version words by compare-and-swap, at any moment: each is the word of an
   * entry in use, and is replaced by another decided word. They change nothing else, and nothing of
   * a table that entries are being moved into.
   */
  SHARED
}
