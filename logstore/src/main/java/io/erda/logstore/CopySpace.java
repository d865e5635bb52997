package io.erda.logstore;

/**
 * Space of a region for the cleaner's copies out of one victim, set aside before the first of them
 * so that a cleaning that began can end. Filled by rising places, one object behind the other, none
 * over the end of a segment. Belongs to the {@link LogStore}'s thread.
 */
public final class CopySpace {
  private final Region region;
  private final Region victim;
  private final LogGeometry geometry;
  private final long end;
  private long next;
  private long wasted;

  CopySpace(Region region, Region victim, LogGeometry geometry, long begin, long end) {
    assert region != victim && region.head() == victim.head() && begin <= end
        : begin + " to " + end + " of " + region + " for copies out of " + victim;
    this.region = region;
    this.victim = victim;
    this.geometry = geometry;
    this.next = begin;
    this.end = end;
    this.wasted = end - begin;
  }

  public Region region() {
    return region;
  }

  /** The region whose live objects the copy space is for. */
  public Region victim() {
    return victim;
  }

  /** Where the next object goes at the earliest, bytes in the region. */
  public long next() {
    return next;
  }

  /** Where the copy space ends in the region, bytes. */
  public long end() {
    return end;
  }

  /** Bytes in which no object lies: at the ends of segments, and behind the last. */
  public long wasted() {
    return wasted;
  }

  /** Takes the place of the next object, or −1 when it does not fit any more. */
  public long take(int padded) {
    assert padded > 0 && (padded & 7) == 0 : padded;
    long place = geometry.placeBehind(next, padded);
    if (place + padded > end) {
      return -1;
    }
    next = place + padded;
    wasted -= padded;
    assert wasted >= 0 && next <= end : wasted + " bytes are wasted in a " + this;
    return place;
  }

  @Override
  public String toString() {
    return "copy space "
        + next
        + " to "
        + end
        + " in "
        + LogFiles.region(region.slot(), region.generation())
        + " for copies out of generation "
        + victim.generation();
  }
}
