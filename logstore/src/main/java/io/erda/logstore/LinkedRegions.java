package io.erda.logstore;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.function.Consumer;

/**
 * The linked regions, by slot of the region table and by head, and the number of further regions
 * that can be linked. It only answers questions about them, and stores nothing. One thread.
 */
public final class LinkedRegions {
  private final LogGeometry geometry;
  private final RegionState[] bySlot;

  /**
   * The regions by head and index. A row is as long as the largest number of regions that the head
   * has had.
   */
  private final RegionState[][] byHead;

  /** The region that each head appends to: the one with the highest generation. */
  private final RegionState[] newest;

  /** The slots of retired regions whose files have kept their names. */
  private final BitSet held = new BitSet();

  /**
   * The places along the heads that get no other region, each as head and index. See {@link #pin}.
   */
  private long[] pinned = {};

  private List<Region> regions = List.of();

  /** Regions that only the cleaner may link. */
  private int reserved;

  LinkedRegions(LogGeometry geometry) {
    this.geometry = geometry;
    this.bySlot = new RegionState[geometry.slots()];
    this.byHead = new RegionState[geometry.heads()][0];
    this.newest = new RegionState[geometry.heads()];
  }

  public LogGeometry geometry() {
    return geometry;
  }

  /** All linked regions, by head and index. */
  public List<Region> regions() {
    return regions;
  }

  /**
   * Returns the region that holds an offset of a head; null when none is linked there. The
   * arguments may have any values.
   */
  public Region region(int head, int offset) {
    if (head < 0 || head >= byHead.length || offset < 0) {
      return null;
    }
    RegionState state = at(head, geometry.regionIndex(offset));
    return state == null ? null : state.region;
  }

  /** The region that a head appends to, or null while it has none. */
  public Region appendRegion(int head) {
    return newest[head] == null ? null : newest[head].region;
  }

  /**
   * Returns the place in {@link #appendRegion} where a head appends, in bytes. No space from there
   * on was handed out.
   */
  public long appendPlace(int head) {
    return newest[head] == null ? 0 : newest[head].append;
  }

  /**
   * Returns the place where the unused rest of a region begins, in bytes; the length of the region
   * when it is sealed.
   */
  public long appendPlace(Region region) {
    return bySlot[region.slot()].append;
  }

  /** Returns the high-water mark of a region: no space at or above it was handed out. */
  public long highMark(Region region) {
    return bySlot[region.slot()].high;
  }

  /** Whether a writer holds space in a region. */
  public boolean hasOpenExtents(Region region) {
    return bySlot[region.slot()].hasOpenExtents();
  }

  /** How many more regions can be linked. */
  public int freeRegions() {
    return Math.max(0, geometry.regionsMax() - count(bySlot) - held.cardinality());
  }

  void reserve(int count) {
    reserved = count;
  }

  int reserved() {
    return reserved;
  }

  /**
   * Whether a lease may link another region to a head. A head without a region may take even the
   * last free one, because without a region its keys could not be stored at all. A head that has
   * regions leaves the reserved regions free, and one region for each head that has none yet.
   */
  boolean mayGrow(int head) {
    if (reserved == 0 || newest[head] == null) {
      return true;
    }
    int without = newest.length - count(newest);
    return freeRegions() > reserved + without
        && geometry.regionsPerHeadMax() - count(byHead[head]) > reserved;
  }

  /** The state of a region that is linked, or that is being retired. */
  RegionState state(Region region) {
    return bySlot[region.slot()];
  }

  /** The state of the region that a head appends to, or null. */
  RegionState newest(int head) {
    return newest[head];
  }

  /** The state of the region that is linked to a head at an index, or null. */
  RegionState at(int head, int index) {
    return index < byHead[head].length ? byHead[head][index] : null;
  }

  void forEach(Consumer<RegionState> action) {
    for (RegionState state : bySlot) {
      if (state != null) {
        action.accept(state);
      }
    }
  }

  /** Returns a slot without a record, or −1 when no more regions may be linked. */
  int freeSlot() {
    if (freeRegions() == 0) {
      return -1;
    }
    int slot = held.nextClearBit(0);
    while (slot < geometry.slots() && bySlot[slot] != null) {
      slot = held.nextClearBit(slot + 1);
    }
    return slot < geometry.slots() ? slot : -1;
  }

  /**
   * Sets at which indexes no further region is linked, so that offsets there name no other object
   * as long as they are pinned. A region that is linked there stays, or is retired as any other.
   *
   * @param all each made by {@link #pin(int, int)}
   */
  public void pin(long[] all) {
    pinned = all.clone();
  }

  /** A place along a head, for {@link #pin(long[])}. */
  public static long pin(int head, int index) {
    return (long) head << 32 | index;
  }

  /** The first index along a head where no region is linked and none is pinned, or −1. */
  int freeIndex(int head) {
    for (int index = 0; index < geometry.regionsPerHeadMax(); index++) {
      if (at(head, index) == null && !isPinned(head, index)) {
        return index;
      }
    }
    return -1;
  }

  private boolean isPinned(int head, int index) {
    for (long each : pinned) {
      if (each == pin(head, index)) {
        return true;
      }
    }
    return false;
  }

  /** Adds a region. Call {@link #list} after the last one. */
  void add(RegionState state) {
    Region region = state.region;
    int head = region.head();
    assert bySlot[region.slot()] == null && at(head, region.index()) == null
        : state + " takes another one's place";
    bySlot[region.slot()] = state;
    if (byHead[head].length <= region.index()) {
      byHead[head] = Arrays.copyOf(byHead[head], region.index() + 1);
    }
    byHead[head][region.index()] = state;
    if (newest[head] == null || newest[head].region.generation() < region.generation()) {
      newest[head] = state;
    }
  }

  /** Takes a region from its head; its slot stays taken until {@link #free}. */
  void unlink(RegionState state) {
    int head = state.region.head();
    assert byHead[head][state.region.index()] == state : state + " is not linked";
    byHead[head][state.region.index()] = null;
    if (newest[head] == state) {
      newest[head] = newestOf(byHead[head]);
    }
    list();
  }

  /** Frees a slot whose record was removed. */
  void free(RegionState state) {
    assert bySlot[state.region.slot()] == state
            && at(state.region.head(), state.region.index()) != state
        : state + " is still linked, or its slot is another's";
    bySlot[state.region.slot()] = null;
  }

  /** Sets that no region is linked in a slot, though it has no region. */
  void hold(int slot) {
    held.set(slot);
  }

  /** Takes a {@link #hold} back. */
  void letGo(int slot) {
    held.clear(slot);
  }

  /** Updates {@link #regions}. */
  void list() {
    List<Region> list = new ArrayList<>();
    for (RegionState[] ofHead : byHead) {
      for (RegionState state : ofHead) {
        if (state != null) {
          list.add(state.region);
        }
      }
    }
    regions = List.copyOf(list);
  }

  void closeMemories() {
    forEach(state -> state.region.memory().close());
  }

  private static RegionState newestOf(RegionState[] ofHead) {
    RegionState newest = null;
    for (RegionState state : ofHead) {
      if (state != null
          && (newest == null || newest.region.generation() < state.region.generation())) {
        newest = state;
      }
    }
    return newest;
  }

  private static int count(RegionState[] states) {
    int count = 0;
    for (RegionState state : states) {
      count += state == null ? 0 : 1;
    }
    return count;
  }
}
