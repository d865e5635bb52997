package io.erda.hashtable;

/** Is shown entries in use, tombstones and pending ones too. */
@FunctionalInterface
public interface EntryVisitor {
  void entry(long slot, long keyWord, long versionWord);
}
