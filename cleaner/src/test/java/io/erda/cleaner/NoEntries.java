package io.erda.cleaner;

import java.lang.foreign.MemorySegment;

/** A table without entries, whose layout a test changes; a sweep over it takes several steps. */
class NoEntries implements Entries {
  static final int STEPS = 3;

  long layout;
  int sweeps;

  @Override
  public long sweep(long cursor, int count, Visitor visitor) {
    sweeps++;
    return cursor + 1 < STEPS ? cursor + 1 : NONE;
  }

  @Override
  public boolean isBehind(long slot, long cursor) {
    return slot < cursor;
  }

  @Override
  public long layout() {
    return layout;
  }

  @Override
  public long slots() {
    return STEPS;
  }

  @Override
  public long find(long keyWord, int offset) {
    return NONE;
  }

  @Override
  public long word(long slot) {
    throw new AssertionError("there is no slot");
  }

  @Override
  public boolean replace(long slot, long keyWord, long expected, long next) {
    throw new AssertionError("there is no slot");
  }

  @Override
  public boolean empty(long slot, long keyWord, long expected) {
    throw new AssertionError("there is no slot");
  }

  @Override
  public long decide(long slot, long keyWord, long word) {
    throw new AssertionError("there is no slot");
  }

  @Override
  public void drain() {}

  @Override
  public long keyWord(MemorySegment memory, long at, int length) {
    throw new AssertionError("there is no key");
  }
}
