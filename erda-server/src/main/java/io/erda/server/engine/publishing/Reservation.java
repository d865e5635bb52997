package io.erda.server.engine.publishing;

import io.erda.logstore.Extent;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;

/** An open extent of one client. */
public final class Reservation {
  public final long id;
  public final Extent extent;

  /** The remote key that its client WRITEs with. */
  public final long key;

  /** Where the next object may begin: places are published in rising order, and once. */
  public long nextPlace;

  long lastUsedNs;

  /** Whether it was used since {@link #lastUsedNs}, by somebody who did not look at the clock. */
  boolean usedSince;

  /** Objects that were announced in it and are not decided. */
  public int undecided;

  /** Whether it has ended, and its key is revoked when nothing in it is undecided any more. */
  public boolean revokedLater;

  /** Whether it has ended, and its extent ends when nothing in it is undecided any more. */
  public boolean endsLater;

  public Reservation(long id, Extent extent, long key, long nowNs) {
    this.id = id;
    this.extent = extent;
    this.key = key;
    this.nextPlace = extent.place();
    this.lastUsedNs = nowNs;
  }

  /** How long it has not been used, as far as was noticed. */
  public long unusedNs(long nowNs) {
    if (usedSince) {
      usedSince = false;
      lastUsedNs = nowNs;
    }
    return nowNs - lastUsedNs;
  }

  /**
   * Takes the place of an object, without a look at the clock.
   *
   * @return whether it lies in this extent and behind all that were taken
   */
  public boolean take(LogGeometry geometry, int head, int offset, int bytes) {
    usedSince = true;
    return take(geometry, head, offset, bytes, lastUsedNs);
  }

  /**
   * Takes the place of an object, if it lies in this extent and behind all that were taken.
   *
   * @param head and {@code offset}, {@code bytes} as the client says
   */
  public boolean take(LogGeometry geometry, int head, int offset, int bytes, long nowNs) {
    long place = geometry.place(offset);
    Region region = extent.region();
    if (head != region.head()
        || geometry.regionIndex(offset) != region.index()
        || place < nextPlace
        || place + ObjectLayout.padded(bytes) > extent.end()) {
      return false;
    }
    nextPlace = place + ObjectLayout.padded(bytes);
    lastUsedNs = nowNs;
    return true;
  }
}
