package io.erda.server.engine.publishing;

import io.erda.logstore.Extent;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;

/** An open extent of one client. */
public final class Reservation {
  public final long id;
  public final Extent extent;

  /** The remote key with which its client WRITEs. */
  public final long key;

  /**
   * The lowest place that the next object may have: a client publishes each place once, in rising
   * order.
   */
  public long nextPlace;

  /**
   * Where the objects end that its client has committed by itself, as far as the log was not told
   * of them; 0 when there are none.
   */
  public long committedTo;

  long lastUsedNs;

  /** Whether the reservation was used since {@link #lastUsedNs}, without reading the clock. */
  boolean usedSince;

  /** The number of announced objects in the reservation that are not decided. */
  public int undecided;

  /**
   * Whether the reservation has ended and its key is revoked later, when no object is undecided.
   */
  public boolean revokedLater;

  /** Whether the reservation has ended and its extent ends later, when no object is undecided. */
  public boolean endsLater;

  public Reservation(long id, Extent extent, long key, long nowNs) {
    this.id = id;
    this.extent = extent;
    this.key = key;
    this.nextPlace = extent.place();
    this.lastUsedNs = nowNs;
  }

  /**
   * Returns for how many nanoseconds the reservation has not been used, as far as that is known.
   */
  public long unusedNs(long nowNs) {
    if (usedSince) {
      usedSince = false;
      lastUsedNs = nowNs;
    }
    return nowNs - lastUsedNs;
  }

  /**
   * Notes that the client has committed all objects before a place by itself.
   *
   * @param to what the client has stored; untrusted
   * @return whether the place lies in this extent, behind all places taken before
   */
  public boolean hasCommitted(long to) {
    if (to <= nextPlace || to > extent.end() || (to & 7) != 0) {
      return false;
    }
    nextPlace = to;
    usedSince = true;
    return true;
  }

  /**
   * Takes the place of an object, without reading the clock.
   *
   * @return whether it lies in this extent and behind all places taken before
   */
  public boolean take(LogGeometry geometry, int head, int offset, int bytes) {
    usedSince = true;
    return take(geometry, head, offset, bytes, lastUsedNs);
  }

  /**
   * Takes the place of an object, if it lies in this extent and behind all places taken before. The
   * client states {@code head}, {@code offset} and {@code bytes}; they are untrusted.
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
