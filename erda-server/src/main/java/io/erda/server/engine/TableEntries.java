package io.erda.server.engine;

import io.erda.cleaner.Entries;
import io.erda.hashtable.HashTable;
import io.erda.hashtable.KeyProbe;
import io.erda.hashtable.VersionWord;
import java.lang.foreign.MemorySegment;

/**
 * The table as the cleaner sees it. Every store goes the way of publication: word, flush, drain.
 */
final class TableEntries implements Entries {
  private final StoreEngine engine;
  private final HashTable table;
  private final OffsetProbe probe = new OffsetProbe();

  TableEntries(StoreEngine engine, HashTable table) {
    this.engine = engine;
    this.table = table;
  }

  @Override
  public long sweep(long cursor, int count, Visitor visitor) {
    long to = Math.min(table.slots(), cursor + count);
    table.forEach(cursor, to, visitor::entry);
    return to == table.slots() ? NONE : to;
  }

  /** Displacement moves entries upwards only, so a sweep misses none. */
  @Override
  public long layout() {
    return 0;
  }

  @Override
  public long slots() {
    return table.slots();
  }

  @Override
  public long find(long keyWord, int offset) {
    probe.offset = offset;
    return table.find(keyWord, probe);
  }

  @Override
  public long word(long slot) {
    return table.versionWord(slot);
  }

  @Override
  public boolean replace(long slot, long keyWord, long expected, long next) {
    return table.storeWord(slot, keyWord, expected, next);
  }

  @Override
  public boolean empty(long slot, long keyWord, long expected) {
    return table.empty(slot, keyWord, expected);
  }

  /** Under publish-last a pending word outside of a batch has no live reservation (rule 3). */
  @Override
  public long decide(long slot, long keyWord, long word) {
    if (!engine.undecided() && table.rollback(slot, keyWord, word)) {
      return table.versionWord(slot);
    }
    return word;
  }

  @Override
  public void drain() {
    table.drain();
  }

  @Override
  public long keyWord(MemorySegment memory, long at, int length) {
    return engine.keyWord(memory, at, length);
  }

  private static final class OffsetProbe implements KeyProbe {
    private int offset;

    @Override
    public boolean matches(long slot, long word) {
      return VersionWord.newest(word) == offset || VersionWord.older(word) == offset;
    }
  }
}
