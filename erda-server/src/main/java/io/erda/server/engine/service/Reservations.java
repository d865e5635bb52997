package io.erda.server.engine.service;

import io.erda.logstore.Extent;
import io.erda.logstore.Region;
import io.erda.server.engine.publishing.Reservation;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Predicate;

/**
 * The open extents of one client. A client that requests more than its share loses its oldest
 * extents, and leases again for the heads to which it still writes. So a client can withhold no
 * more than its share of bytes, or, when objects are large, the two newest extents of each head.
 * One thread.
 */
final class Reservations {
  /** Open extents in the order in which they were granted. */
  private final Map<Long, Reservation> open = new LinkedHashMap<>();

  /**
   * The open extent that was looked up last; null when it has ended. Successive puts of a client go
   * into one extent, and a look-up in the map costs as much as a fiftieth of an embedded put.
   */
  private Reservation latest;

  private long openBytes;

  /** The newest extent of each head, which the client may be about to write into. */
  private final Reservation[] newest;

  private final UserShare share;
  private final LongConsumer revoke;
  private final Consumer<Reservation> ended;

  /**
   * @param share the share of the client's user, which counts these extents
   * @param revoke receives the key of each extent that ends
   * @param ended receives each extent that ends
   */
  Reservations(int heads, UserShare share, LongConsumer revoke, Consumer<Reservation> ended) {
    this.share = share;
    this.ended = ended;
    this.revoke = revoke;
    this.newest = new Reservation[heads];
  }

  boolean isEmpty() {
    return open.isEmpty();
  }

  /** Total bytes of the open extents. */
  long openBytes() {
    return openBytes;
  }

  /** Returns an open extent; null when there is none of this id. */
  Reservation get(long id) {
    if (latest == null || latest.id != id) {
      latest = open.get(id);
    }
    return latest;
  }

  void add(Reservation reservation) {
    open.put(reservation.id, reservation);
    openBytes += reservation.extent.length();
    share.leasedBytes += reservation.extent.length();
    newest[reservation.extent.region().head()] = reservation;
  }

  /** Removes an extent; null when it is not open. The caller ends it. */
  Reservation remove(long id) {
    Reservation removed = open.remove(id);
    if (removed != null) {
      forget(removed);
    }
    return removed;
  }

  private void forget(Reservation removed) {
    Extent extent = removed.extent;
    openBytes -= extent.length();
    share.leasedBytes -= extent.length();
    assert openBytes >= 0 && (openBytes == 0) == open.isEmpty()
        : open.size() + " reservations of " + openBytes + " bytes";
    if (latest == removed) {
      latest = null;
    }
    ended.accept(removed);
    if (removed.undecided > 0) {
      removed.revokedLater = true;
    } else {
      revoke.accept(removed.key);
    }
    int head = extent.region().head();
    if (newest[head] == removed) {
      newest[head] = null;
    }
  }

  /** Notes that an announcement in a reservation, which may have ended, is decided. */
  void decided(Reservation reservation) {
    if (reservation.revokedLater && reservation.undecided == 0) {
      reservation.revokedLater = false;
      revoke.accept(reservation.key);
    }
  }

  /**
   * Removes the extents that must end before {@code bytes} more of a head are granted, so that at
   * most {@code share} bytes are open: the oldest first, and never the newest one of a head.
   */
  List<Reservation> takeExcess(long bytes, long share) {
    if (openBytes + bytes <= share || open.isEmpty()) {
      return List.of();
    }
    List<Reservation> excess = new ArrayList<>();
    for (Iterator<Reservation> each = open.values().iterator();
        each.hasNext() && openBytes + bytes > share; ) {
      Reservation oldest = each.next();
      if (newest[oldest.extent.region().head()] != oldest) {
        each.remove();
        forget(oldest);
        excess.add(oldest);
      }
    }
    return excess;
  }

  /** Removes all extents of a head but the newest one. */
  List<Reservation> takeAllBut(int head) {
    return take(each -> each != newest[head]);
  }

  /** Removes the extents in a region. */
  List<Reservation> takeIn(Region region) {
    return take(each -> each.extent.region() == region);
  }

  /** Removes the extents that were not used for {@code idleNs}. */
  List<Reservation> takeUnusedFor(long idleNs, long nowNs) {
    return open.isEmpty() ? List.of() : take(each -> each.unusedNs(nowNs) > idleNs);
  }

  List<Reservation> takeAll() {
    return take(each -> true);
  }

  private List<Reservation> take(Predicate<Reservation> which) {
    List<Reservation> taken = List.of();
    for (Iterator<Reservation> each = open.values().iterator(); each.hasNext(); ) {
      Reservation reservation = each.next();
      if (which.test(reservation)) {
        each.remove();
        forget(reservation);
        taken = taken.isEmpty() ? new ArrayList<>() : taken;
        taken.add(reservation);
      }
    }
    return taken;
  }
}
