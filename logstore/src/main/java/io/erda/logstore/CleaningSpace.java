package io.erda.logstore;

import java.io.UncheckedIOException;

/**
 * The cleaner's view of the log: it seals a region, sets space aside for copies of the live objects
 * in it, and retires it. One thread, the log's.
 */
public final class CleaningSpace {
  private final Life life;
  private final RegionTable table;
  private final LinkedRegions linked;
  private final WaterMarks marks;
  private final Linking linking;
  private final LogGeometry geometry;

  /** The copy space of a cleaning that the last run did not finish, or null. */
  private final CopySpace interrupted;

  CleaningSpace(
      Life life,
      RegionTable table,
      LinkedRegions linked,
      WaterMarks marks,
      Linking linking,
      CopySpace interrupted) {
    this.life = life;
    this.table = table;
    this.linked = linked;
    this.marks = marks;
    this.linking = linking;
    this.geometry = linked.geometry();
    this.interrupted = interrupted;
  }

  /**
   * Reserves regions that only {@link #setAside} may link, because cleaning needs space for copies
   * before it frees space. See {@link LinkedRegions#mayGrow}.
   */
  public void reserveRegions(int count) {
    linked.reserve(count);
  }

  /** Hands out no more space in a region that is to be cleaned. */
  public void seal(Region region) {
    marks.seal(linked.state(region));
  }

  /**
   * Whether {@link #setAside} takes space in the region that the head appends to, and needs no
   * other region.
   *
   * @param packedBytes the length of the live objects when they are packed from the beginning of a
   *     segment
   */
  public boolean fitsBehind(Region victim, long packedBytes) {
    RegionState state = linked.newest(victim.head());
    return state != null
        && state.region != victim
        && state.append < geometry.regionBytes()
        && endBehind(state, packedBytes) <= geometry.regionBytes();
  }

  /**
   * Returns the latest end of copies that begin where the region appends. Copies need the most room
   * when they begin at the beginning of a segment.
   */
  private long endBehind(RegionState state, long packedBytes) {
    return ((state.append + geometry.segmentBytes() - 1) & -(long) geometry.segmentBytes())
        + packedBytes;
  }

  /**
   * Sets space aside for the live objects in {@code victim}, durably: in the region to which the
   * head appends, if the objects fit there; otherwise at the beginning of another region, which may
   * be a reserved one.
   *
   * @param packedEnd where the live objects end when they are packed from the beginning of a region
   * @param packedBytes the length of the live objects when they are packed from the beginning of a
   *     segment
   * @return null when there is no room for it, or no file yet: see {@link FileSupply#making}
   * @throws UncheckedIOException when the directory fails for another reason than lack of space
   */
  public CopySpace setAside(Region victim, long packedEnd, long packedBytes) {
    life.requireInUse();
    if (fitsBehind(victim, packedBytes)) {
      RegionState state = linked.newest(victim.head());
      return setAside(state, victim, state.append, endBehind(state, packedBytes));
    }
    if (linking.linkForCopies(victim, packedEnd) != null) {
      return null;
    }
    RegionState fresh = linked.newest(victim.head());
    linking.announce(fresh);
    return new CopySpace(fresh.region, victim, geometry, fresh.copiesBegin, fresh.copiesEnd);
  }

  /**
   * Sets space aside in a region. The beginning is stored first, so that no client's object ever
   * lies in a stored copy space.
   */
  private CopySpace setAside(RegionState state, Region victim, long begin, long end) {
    assert begin == state.append && begin <= end && end <= geometry.regionBytes()
        : "copies from " + begin + " to " + end + " in " + state + ", append " + state.append;
    int slot = state.region.slot();
    marks.cover(state, end);
    table.storeCleaning(slot, 0);
    table.storeCopiesBegin(slot, begin);
    table.drain();
    table.storeCopiesEnd(slot, end);
    table.storeCleaning(slot, victim.generation());
    table.drain();
    state.append = end;
    state.copiesBegin = begin;
    state.copiesEnd = end;
    return new CopySpace(state.region, victim, geometry, begin, end);
  }

  /**
   * The copy space that was not yet full when the last run ended, or null. No word ever named a
   * place at or behind its {@link CopySpace#next()}.
   */
  public CopySpace interrupted() {
    return interrupted;
  }

  /**
   * Makes sure, durably, that a copy space is not used again before {@code place} after a crash.
   * Called before a word names a place there.
   */
  public void advance(CopySpace copySpace, long place) {
    RegionState state = linked.state(copySpace.region());
    assert state.copiesBegin <= place && place <= state.copiesEnd
        : "advancing to " + place + " in a " + copySpace;
    table.storeCopiesBegin(state.region.slot(), place);
    table.drain();
    state.copiesBegin = place;
  }

  /**
   * Notes that the cleaning with a copy space has ended, or was given up. The rest of the copy
   * space becomes a hole.
   */
  public void release(CopySpace copySpace) {
    table.storeCleaning(copySpace.region().slot(), 0);
  }

  /**
   * Takes a region from its head for ever. It changes the record, tells the listeners, and changes
   * the name of the file, in this order, each durable before the next; after a crash in between
   * {@link LogStore#open} does the rest. Afterwards the slot and the index are free, and the file
   * has a name that belongs to no record.
   *
   * <p>REQUIRES: no extent is open in it, no word names a place in it, durably, and no word ever
   * will.
   *
   * @throws UncheckedIOException when the directory fails; the region is removed from the map in
   *     any case
   */
  public void retire(Region region) {
    life.requireInUse();
    linking.retire(region);
  }
}
