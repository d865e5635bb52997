package io.erda.logstore;

/**
 * A range of a region that one client may write; never spans two segments. Each place is handed out
 * once per generation. The extent is open until {@link LogStore#end}; its part that is not settled
 * holds back the low-water mark. Belongs to the {@link LogStore}'s thread.
 */
public final class Extent {
  private final Region region;
  private final long place;
  private final int length;
  private long settled;
  private boolean open = true;

  /**
   * The neighbours in the list of the region's open extents, by place; maintained by {@link
   * RegionState}.
   */
  Extent previous;

  Extent next;

  Extent(Region region, long place, int length) {
    assert (place & 7) == 0 && length > 0 && (length & 7) == 0 : length + " bytes at " + place;
    this.region = region;
    this.place = place;
    this.length = length;
    this.settled = place;
  }

  public Region region() {
    return region;
  }

  /** Where the extent begins in the region, bytes; a multiple of 8. */
  public long place() {
    return place;
  }

  /** How many bytes the extent has; a multiple of 8. */
  public int length() {
    return length;
  }

  /** Where the extent ends in the region, bytes. */
  public long end() {
    return place + length;
  }

  /**
   * Returns the place below which each object of the extent is committed and durable, or never will
   * be.
   */
  public long settled() {
    return settled;
  }

  /** Whether {@link LogStore#end} was not called yet. */
  public boolean open() {
    return open;
  }

  void settle(long upTo) {
    assert upTo <= end() : upTo + " is behind the " + this;
    settled = Math.max(settled, upTo);
  }

  void close() {
    assert open : "ended twice: " + this;
    open = false;
  }

  @Override
  public String toString() {
    return "extent of "
        + length
        + " bytes at "
        + place
        + " in "
        + LogFiles.region(region.slot(), region.generation())
        + ", settled to "
        + settled
        + (open ? "" : ", ended");
  }
}
