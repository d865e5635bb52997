package io.erda.logstore;

/**
 * A stretch of a region that one client may write; never spans two segments. Handed out once per generation. Open until
 * {@link LogStore#end}; the part that is not settled holds back the low-water mark.
 */
public final class Extent {
  private final Region region;
  private final long place;
  private final int length;
  private long settled;

  Extent(Region region, long place, int length) {
    this.region = region;
    this.place = place;
    this.length = length;
    this.settled = place;
  }

  public Region region() {
    return region;
  }

  /** Where it begins in the region, bytes; a multiple of 8. */
  public long place() {
    return place;
  }

  /** Bytes; a multiple of 8. */
  public int length() {
    return length;
  }

  /** Everything before this place is committed and durable, or will never be. */
  public long settled() {
    return settled;
  }

  void settle(long upTo) {
    settled = Math.max(settled, upTo);
  }
}
