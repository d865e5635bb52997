package io.erda.hashtable;

/** Visits entries in use, including tombstones and pending entries. */
@FunctionalInterface
public interface EntryVisitor {
  void entry(long slot, long keyWord, long versionWord);
}
