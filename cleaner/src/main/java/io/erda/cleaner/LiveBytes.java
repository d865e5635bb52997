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

  /**
   * Whether the counting has begun and not ended, so that it depends on the entry whether a
   * replaced version must be counted. Before, none must be; afterwards each.
   */
  public boolean isCounting() {
    return !known && cursor != 0;
  }

  /** Live bytes of a region, or −1 when they are not known yet. */
  public long of(Region region) {
    return known ? Math.max(0, bytes[region.slot()]) : -1;
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
    if (counts(slot)) {
      add(head, before, -1);
      add(head, after, 1);
    }
  }

  private void add(int head, int offset, int sign) {
    Region region = offset == VersionWord.NONE ? null : linked.region(head, offset);
    if (region != null) {
      add(region, sign * bytesAt(region, offset));
    }
  }

  /** How many bytes count for the whole object at an offset of a region. Any thread. */
  public long bytesAt(Region region, int offset) {
    MemorySegment memory = region.memory().segment();
    long place = linked.geometry().place(offset);
    if (ObjectLayout.tombstone(memory, place)) {
      return 0;
    }
    int length =
        ObjectLayout.bytes(
            ObjectLayout.keyLength(memory, place), ObjectLayout.valueLength(memory, place));
    return Math.min(ObjectLayout.padded(length), linked.geometry().room(place));
  }

  /**
   * Whether a replaced version of an entry must be counted: the sweep has passed the entry. Any
   * thread, while no other method is called.
   *
   * @param slot the slot of the entry
   */
  public boolean counts(long slot) {
    return known || entries.isBehind(slot, cursor);
  }

  /**
   * Counts versions of entries that {@link #counts}, which have replaced others since. Several
   * calls for one region add up, so the bytes may be less than 0 between them.
   *
   * @param slot of the region table
   * @param change by how many bytes the region has more live ones
   */
  public void change(int slot, long change) {
    set(slot, bytes[slot] + change);
  }

  /** Changes a region's live bytes because the cleaner moved an object into it or out of it. */
  void add(Region region, long change) {
    set(region.slot(), Math.max(0, bytes[region.slot()] + change));
  }

  void set(Region region, long live) {
    set(region.slot(), live);
  }

  private void set(int slot, long live) {
    total += live - bytes[slot];
    bytes[slot] = live;
  }
}
