package io.erda.cleaner;

import io.erda.hashtable.Entry;
import io.erda.hashtable.VersionWord;
import io.erda.logstore.LinkedRegions;
import io.erda.logstore.LogStore;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * How many bytes of each region are live: the newest committed values, padded; tombstones do not
 * count, because cleaning drops them. The code that stores words keeps it up to date once the table
 * was counted; it is not persisted. The numbers are estimates, which serve to choose victims; a
 * cleaning itself determines the live objects.
 */
public final class LiveBytes {
  private static final int SLOTS_A_STEP = 256;

  private final LinkedRegions linked;
  private final Entries entries;

  /** Live bytes by slot of the region table. */
  private final long[] bytes;

  /** The sum of {@link #bytes}. */
  private long total;

  /** The position of the counting sweep; {@link #bytes} covers the entries before it. */
  private long cursor;

  private long layout;
  private boolean known;

  public LiveBytes(LogStore log, Entries entries) {
    this.linked = log.linked();
    this.entries = entries;
    this.bytes = new long[linked.geometry().slots()];
    this.layout = entries.layout();
  }

  /** Whether the table was counted. */
  public boolean known() {
    return known;
  }

  /** Live bytes of a region, or −1 when they are not known yet. */
  public long of(Region region) {
    return known ? bytes[region.slot()] : -1;
  }

  /** Live bytes of all regions, or −1 when they are not known yet. */
  public long total() {
    return known ? total : -1;
  }

  /** Goes on counting. Returns the number of slots visited; 0 when all live bytes are known. */
  public int doWork() {
    if (known) {
      return 0;
    }
    if (entries.layout() != layout) {
      Arrays.fill(bytes, 0);
      total = 0;
      layout = entries.layout();
      cursor = 0;
    }
    cursor = entries.sweep(cursor, SLOTS_A_STEP, this::count);
    known = cursor == Entries.NONE;
    return SLOTS_A_STEP;
  }

  private void count(long slot, long keyWord, long word) {
    add(Entry.headOf(keyWord), VersionWord.committed(word), 1);
  }

  /**
   * Counts a version that replaced another one.
   *
   * @param slot the slot of the entry
   * @param before offset of the version that readers took, or {@link VersionWord#NONE}
   * @param after offset of the value that readers take from now on, or {@link VersionWord#NONE} for
   *     a tombstone
   */
  public void replaced(long slot, int head, int before, int after) {
    if (known || entries.isBehind(slot, cursor)) {
      add(head, before, -1);
      add(head, after, 1);
    }
  }

  private void add(int head, int offset, int sign) {
    Region region = offset == VersionWord.NONE ? null : linked.region(head, offset);
    if (region == null) {
      return;
    }
    MemorySegment memory = region.memory().segment();
    long place = linked.geometry().place(offset);
    if (!ObjectLayout.tombstone(memory, place)) {
      int length =
          ObjectLayout.bytes(
              ObjectLayout.keyLength(memory, place), ObjectLayout.valueLength(memory, place));
      add(region, sign * Math.min(ObjectLayout.padded(length), linked.geometry().room(place)));
    }
  }

  /** Changes a region's live bytes because the cleaner moved an object into it or out of it. */
  void add(Region region, long change) {
    set(region, Math.max(0, bytes[region.slot()] + change));
  }

  void set(Region region, long live) {
    total += live - bytes[region.slot()];
    bytes[region.slot()] = live;
  }
}
