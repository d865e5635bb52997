package io.erda.logstore;

/**
 * The state of a linked region in the server's memory: the place where the region appends, the
 * marks as stored, and the open extents by place.
 *
 * <p>Extents are handed out at rising places and are disjoint. So each new extent goes to the end
 * of the list, and the first open extent has the least settled place. Settling and ending an extent
 * cost the same with one open extent and with thousands.
 */
final class RegionState {
  final Region region;

  /** The place where the region appends. No space at or above it was handed out. */
  long append;

  /**
   * The high-water mark as stored and durable. It is at least {@link #append}, except in a sealed
   * region, where {@link #append} is the region's end and the mark stays where it was.
   */
  long high;

  /** The low-water mark as stored; it may not be durable yet. */
  long low;

  /**
   * The copy space of the cleaner, as stored; it is empty when its end is not beyond its beginning.
   * Recovery does not scan it.
   */
  long copiesBegin;

  long copiesEnd;

  /** Whether every listener was told that the region is linked. */
  boolean announced;

  private Extent first;
  private Extent last;

  RegionState(Region region, long low, long high, long append) {
    this.region = region;
    this.low = low;
    this.high = high;
    this.append = append;
  }

  boolean hasOpenExtents() {
    return first != null;
  }

  void opened(Extent extent) {
    assert extent.region() == region && (last == null || last.end() <= extent.place())
        : extent + " does not lie behind " + last;
    assert extent.end() == append && append <= high
        : extent + " ends elsewhere than what is handed out, " + append + ", or above " + high;
    extent.previous = last;
    if (last == null) {
      first = extent;
    } else {
      last.next = extent;
    }
    last = extent;
  }

  void ended(Extent extent) {
    assert extent.region() == region && hasOpenExtents() : extent + " is not open in " + this;
    if (extent.previous == null) {
      first = extent.next;
    } else {
      extent.previous.next = extent.next;
    }
    if (extent.next == null) {
      last = extent.previous;
    } else {
      extent.next.previous = extent.previous;
    }
    extent.previous = null;
    extent.next = null;
  }

  /**
   * The place to which the low-water mark may rise: each object below it is committed and durable,
   * or never will be.
   */
  long settled() {
    return Math.min(first == null ? append : first.settled(), high);
  }

  @Override
  public String toString() {
    return LogFiles.region(region.slot(), region.generation());
  }
}
