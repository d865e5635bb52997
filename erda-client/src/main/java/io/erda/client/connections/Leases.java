package io.erda.client.connections;

import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import java.lang.foreign.MemorySegment;

/**
 * The leases of a session: for each head the extent that is written to and the next one, which is
 * requested before it is needed.
 *
 * <p>The client ends a lease that is full or replaced, so that the server need not wait for it.
 */
public final class Leases {
  /** The smallest object, padded: an extent with less room is full. */
  private static final int OBJECT_BYTES_MIN = ObjectLayout.padded(ObjectLayout.HEADER_BYTES + 1);

  private static final class Head {
    final Lease first = new Lease();
    final Lease second = new Lease();

    /** Whether a LEASE request is outstanding. */
    boolean requested;

    /** Bytes of the request that is outstanding, or that could not be sent yet. */
    int asked;

    /** Whether a request could not be sent yet. */
    boolean deferred;

    /** Whether the server refused a lease that was requested before it was needed. */
    boolean refused;

    /** Bytes of the extent that was leased last. */
    int extentBytes;

    /**
     * The number of objects placed. From the second object on the client requests the next lease
     * before it is needed.
     */
    long placed;
  }

  /**
   * The consequence of the answer to a LEASE request for operations that wait for space of its
   * head.
   */
  enum Answer {
    /** A usable lease came. */
    ARRIVED,

    /** The server has no room for the requested bytes. */
    REFUSED,

    /** A lease came that can't be used before a newer map. */
    UNMAPPED,

    /** The answer was invalid, and the connection ends. */
    WRONG
  }

  private final ClientContext context;
  private final SessionState state;
  private final Requests requests;
  private final MapFetch mapFetch;
  private final LogGeometry geometry;
  private final Head[] heads;

  /** The newest map; null before the first. */
  private RegionMap map;

  Leases(
      ClientContext context,
      SessionState state,
      Requests requests,
      MapFetch mapFetch,
      LogGeometry geometry) {
    this.context = context;
    this.state = state;
    this.requests = requests;
    this.mapFetch = mapFetch;
    this.geometry = geometry;
    this.heads = new Head[geometry.heads()];
    for (int i = 0; i < heads.length; i++) {
      heads[i] = new Head();
    }
  }

  /** A lease with room for {@code padded} bytes, or null. */
  public Lease fitting(int head, int padded) {
    Head of = heads[head];
    if (of.first.fits(padded)) {
      return of.first;
    }
    return of.second.fits(padded) ? of.second : null;
  }

  /** Requests room, unless a request is outstanding. */
  public void request(int head, int padded) {
    Head of = heads[head];
    if (of.requested || unresolved(of.first) || unresolved(of.second)) {
      return;
    }
    of.asked = of.deferred ? Math.max(of.asked, padded) : padded;
    of.requested = requests.sendLease(head, of.asked);
    of.deferred = !of.requested;
    if (of.deferred) {
      context.attention().ask();
    }
  }

  /**
   * Notes that an object of {@code padded} bytes was placed, and requests the next extent when the
   * current one is nearly full.
   */
  public void placed(int head, int padded) {
    Head of = heads[head];
    of.placed++;
    endFull(head, of.first);
    endFull(head, of.second);
    long left = Math.max(of.first.remaining(), of.second.remaining());
    long low = Math.max(2L * padded, of.extentBytes >> 3);
    if (left < low && of.placed > 1 && !of.requested && !of.refused) {
      request(head, padded);
    }
  }

  /** Sends requests that could not be sent before. Returns whether some remain. */
  boolean retryDeferred() {
    boolean remains = false;
    for (int head = 0; head < heads.length; head++) {
      Head of = heads[head];
      if (of.deferred) {
        of.deferred = false;
        request(head, of.asked);
        remains |= of.deferred;
      }
    }
    return remains;
  }

  /** Drops a lease that the server no longer accepts. */
  public void drop(int head, long reservation) {
    Head of = heads[head];
    if (of.first.held && of.first.reservation == reservation) {
      end(head, of.first);
    }
    if (of.second.held && of.second.reservation == reservation) {
      end(head, of.second);
    }
  }

  private void endFull(int head, Lease lease) {
    if (lease.held && lease.remaining() < OBJECT_BYTES_MIN) {
      end(head, lease);
    }
  }

  /** Takes the response to a LEASE request. */
  Answer onResponse(int head, int asked, int result, MemorySegment memory, long base) {
    Head of = heads[head];
    of.requested = false;
    if (result != Result.OK) {
      of.refused = true;
      return Answer.REFUSED;
    }
    of.refused = false;
    of.extentBytes = Message.getInt(memory, base + Message.LEASED_LENGTH);
    context.counts().leases++;
    long place = Message.getLong(memory, base + Message.LEASED_PLACE);
    int length = Message.getInt(memory, base + Message.LEASED_LENGTH);
    int index = Message.getInt(memory, base + Message.LEASED_REGION_INDEX);
    String wrong = wrong(asked, place, length, index);
    if (wrong != null) {
      state.fail("the server leased " + wrong);
      return Answer.WRONG;
    }
    Lease lease = of.first.remaining() <= of.second.remaining() ? of.first : of.second;
    end(head, lease);
    lease.hold(
        Message.getLong(memory, base + Message.LEASED_RESERVATION),
        index,
        Message.getInt(memory, base + Message.LEASED_GENERATION),
        Message.getLong(memory, base + Message.LEASED_EPOCH),
        Message.getLong(memory, base + Message.LEASED_KEY),
        place,
        length);
    resolve(head, lease);
    if (lease.remoteKey != RegionMap.NONE) {
      return Answer.ARRIVED;
    }
    mapFetch.begin();
    return Answer.UNMAPPED;
  }

  private String wrong(int asked, long place, int length, int index) {
    long regionBytes = geometry.regionBytes();
    boolean inRegion = place >= Region.HEADER_BYTES && place < regionBytes && (place & 7) == 0;
    boolean inSegment = inRegion && length <= geometry.room(place);
    boolean indexed = index >= 0 && index < geometry.regionsPerHeadMax();
    return length >= asked && (length & 7) == 0 && inSegment && indexed
        ? null
        : length
            + " bytes at place "
            + place
            + " of region "
            + index
            + " when asked for "
            + asked
            + " (regions of "
            + regionBytes
            + ", segments of "
            + geometry.segmentBytes()
            + ")";
  }

  /** Takes a new map. The caller then calls {@link #look} for each head. */
  void onMap(RegionMap newest) {
    map = newest;
  }

  /**
   * Checks the leases of a head against the new map. Returns whether a lease waited for it: then
   * operations that wait for the lease try again.
   */
  boolean look(int head) {
    Head of = heads[head];
    boolean waiting = unresolved(of.first) | unresolved(of.second);
    dropRetired(head, of.first);
    dropRetired(head, of.second);
    resolve(head, of.first);
    resolve(head, of.second);
    if (waiting) {
      requireResolved(head, of.first);
      requireResolved(head, of.second);
    }
    return waiting;
  }

  /** Drops a lease whose region was cleaned. */
  private void dropRetired(int head, Lease lease) {
    if (lease.held
        && lease.epoch < map.epoch
        && (map.remoteKey(head, lease.regionIndex) == RegionMap.NONE
            || map.generation(head, lease.regionIndex) != lease.generation)) {
      lease.drop();
    }
  }

  private static boolean unresolved(Lease lease) {
    return lease.held && lease.remoteKey == RegionMap.NONE;
  }

  private void resolve(int head, Lease lease) {
    if (unresolved(lease)) {
      long key = map.remoteKey(head, lease.regionIndex);
      if (key != RegionMap.NONE && map.generation(head, lease.regionIndex) == lease.generation) {
        lease.remoteKey = lease.grantedKey;
      }
    }
  }

  /**
   * Fails the connection when a lease's region is missing from the map of the lease's epoch, or a
   * later one.
   */
  private void requireResolved(int head, Lease lease) {
    if (unresolved(lease)) {
      if (map.epoch < lease.epoch) {
        mapFetch.begin();
      } else {
        state.fail(
            "the server leased region "
                + lease.regionIndex
                + " of head "
                + head
                + ", generation "
                + lease.generation
                + ", which its map of epoch "
                + map.epoch
                + " does not name");
      }
    }
  }

  private void end(int head, Lease lease) {
    if (lease.held) {
      requests.sendEnd(head, lease.reservation);
    }
    lease.drop();
  }
}
