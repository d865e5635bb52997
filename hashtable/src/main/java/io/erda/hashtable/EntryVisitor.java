package io.erda.hashtable;

/** Visits entries in use, tombstones and pending ones too. */
@FunctionalInterface
public interface EntryVisitor {
  void entry(long slot, long keyWord, long versionWord);
}
