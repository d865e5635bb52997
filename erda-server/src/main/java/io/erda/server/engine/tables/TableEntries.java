package io.erda.server.engine.tables;

import io.erda.cleaner.Entries;
import io.erda.hashtable.HashTable;
import io.erda.hashtable.KeyProbe;
import io.erda.hashtable.VersionWord;
import java.lang.foreign.MemorySegment;

/**
 * The cleaner's view of the table, one or two while it is resized. Every store is published: word,
 * flush, drain.
 */
public final class TableEntries implements Entries {
  /** A bit of a sweep's cursor: the cursor is in the new table. */
  private static final long IN_NEXT = 1L << 62;

  private final Tables tables;
  private final Decisions decisions;
  private final KeyWords keyWords;
  private final OffsetProbe probe = new OffsetProbe();

  public TableEntries(Tables tables, Decisions decisions, KeyWords keyWords) {
    this.tables = tables;
    this.decisions = decisions;
    this.keyWords = keyWords;
  }

  @Override
  public long sweep(long cursor, int count, Visitor visitor) {
    // With an empty mask the sweep shows every entry.
    return sweep(cursor, count, 0, 0, visitor);
  }

  @Override
  public long sweep(long cursor, int count, int mask, int bits, Visitor visitor) {
    boolean inNext = (cursor & IN_NEXT) != 0;
    Tables.Generation swept = inNext ? tables.next() : tables.current();
    HashTable table = swept.table();
    long from = cursor & ~IN_NEXT;
    long to = Math.min(table.slots(), from + count);
    table.forEachWithOffset(
        from,
        to,
        mask,
        bits,
        (slot, keyWord, word) -> visitor.entry(swept.entry(slot), keyWord, word));
    if (to < table.slots()) {
      return cursor - from + to;
    }
    return inNext || tables.next() == null ? NONE : IN_NEXT;
  }

  @Override
  public boolean isBehind(long slot, long cursor) {
    long order = (tables.isInNext(slot) ? IN_NEXT : 0) | Tables.slot(slot);
    return order < cursor;
  }

  /**
   * Displacement and resizing move entries only upwards, in their table or into the next one, so a
   * sweep misses none as long as the tables are the same.
   */
  @Override
  public long layout() {
    return 2L * tables.current().order() + (tables.next() == null ? 0 : 1);
  }

  @Override
  public long slots() {
    return tables.slots();
  }

  @Override
  public long find(long keyWord, int offset) {
    probe.offset = offset;
    return tables.find(keyWord, probe);
  }

  @Override
  public void findSoon(long[] wanted, int count) {
    tables.findSoon(wanted, count);
  }

  @Override
  public long word(long slot) {
    return tables.versionWord(slot);
  }

  @Override
  public boolean replace(long slot, long keyWord, long expected, long next) {
    return tables.storeWord(slot, keyWord, expected, next);
  }

  @Override
  public boolean empty(long slot, long keyWord, long expected) {
    return tables.empty(slot, keyWord, expected);
  }

  @Override
  public long decide(long slot, long keyWord, long word) {
    return decisions.decide(slot, keyWord, word);
  }

  @Override
  public void drain() {
    tables.drain();
  }

  @Override
  public long keyWord(MemorySegment memory, long at, int length) {
    return keyWords.of(memory, at, length);
  }

  private static final class OffsetProbe implements KeyProbe {
    private int offset;

    @Override
    public boolean matches(long slot, long word) {
      return VersionWord.newest(word) == offset || VersionWord.older(word) == offset;
    }
  }
}
