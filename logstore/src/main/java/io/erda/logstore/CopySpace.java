package io.erda.logstore;

/**
 * Space of a region for the cleaner's copies of objects of one victim. It is set aside before the
 * first copy, so that a cleaning that has begun can end. It is filled at rising places, one object
 * after the other, and no object crosses the end of a segment. Belongs to the {@link LogStore}'s
 * thread.
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

  /** Returns the region whose live objects are copied into this space. */
  public Region victim() {
    return victim;
  }

  /** Returns the lowest place for the next object, in bytes from the beginning of the region. */
  public long next() {
    return next;
  }

  /** Returns the end of the copy space, in bytes from the beginning of the region. */
  public long end() {
    return end;
  }

  /**
   * Returns the number of bytes without an object: those at the ends of segments, and those after
   * the last object.
   */
  public long wasted() {
    return wasted;
  }

  /** Takes the place for the next object. Returns −1 when the object does not fit. */
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
