package io.erda.client.connections;

import io.erda.hashtable.Neighbourhood;
import io.erda.logstore.LogGeometry;
import io.erda.protocol.Message;
import io.erda.protocol.Result;
import java.lang.foreign.MemorySegment;

/**
 * Fetches the pages of a session's region map, and checks each page.
 *
 * <p>All pages must be of one epoch, and cleaning may change the epoch between any two steps of the
 * server, so fetching one page after the other might never end. Therefore all pages are requested
 * at once, as far as there are control requests: the server answers requests that arrive together
 * in one step. When pages of two epochs arrive all of them are requested again, without limit:
 * operations that wait for the map have their own time-out.
 */
final class MapFetch {
  private final SessionState state;
  private final Requests requests;
  private final Attention attention;
  private final long incarnation;
  private final LogGeometry geometry;
  private boolean fetching;

  /**
   * Whether no request could be sent while no page is awaited, so that a later turn has to try
   * again.
   */
  private boolean deferred;

  /** The map of the epoch of the first page that came; null before the first page. */
  private RegionMap incoming;

  /** Whether pages of different epochs came. */
  private boolean mixed;

  /** The number of regions that the newest page states. */
  private int regions;

  /** How many regions a full page names; 0 before a map with more than one page came. */
  private int pageRegions;

  private int nextPage;
  private int out;
  private int taken;

  /**
   * @param incarnation the incarnation of the server, which each page repeats
   */
  MapFetch(
      SessionState state,
      Requests requests,
      Attention attention,
      long incarnation,
      LogGeometry geometry) {
    this.state = state;
    this.requests = requests;
    this.attention = attention;
    this.incarnation = incarnation;
    this.geometry = geometry;
  }

  /** Begins a fetch, unless one is under way. Returns false when there is no server. */
  boolean begin() {
    if (!state.hasServer()) {
      return false;
    }
    if (!fetching) {
      fetching = true;
      beginAnew();
    }
    return true;
  }

  private void beginAnew() {
    incoming = null;
    mixed = false;
    nextPage = 0;
    taken = 0;
    ask();
  }

  private int pages() {
    return pageRegions == 0 ? 1 : Math.max(1, (regions + pageRegions - 1) / pageRegions);
  }

  private void ask() {
    while (nextPage < pages() && requests.sendMap(nextPage, nextPage * pageRegions)) {
      nextPage++;
      out++;
    }
    if (out == 0) {
      deferred = true;
      attention.ask();
    }
  }

  /** Requests pages that could not be requested before. Returns whether some remain. */
  boolean retryDeferred() {
    if (deferred) {
      deferred = false;
      ask();
    }
    return deferred;
  }

  /** Takes an answer to {@code page}. Returns the map when it is complete. */
  RegionMap onPage(int page, int result, MemorySegment memory, long base, int byteLength) {
    out--;
    String wrong = wrong(page, result, memory, base, byteLength);
    if (wrong != null) {
      state.fail("the server sent " + wrong);
      return null;
    }
    long epoch = Message.getLong(memory, base + Message.MAPPED_EPOCH);
    regions = Message.getInt(memory, base + Message.MAPPED_REGIONS);
    int count = Message.getInt(memory, base + Message.MAPPED_COUNT);
    if (pageRegions == 0 && count < regions) {
      pageRegions = count;
    }
    if (incoming == null) {
      incoming = emptyMap(memory, base, epoch);
    }
    mixed |= epoch != incoming.epoch;
    if (!mixed && !takeRecords(memory, base, count)) {
      return null;
    }
    if (!mixed && nextPage < pages()) {
      ask();
    } else if (out == 0) {
      if (!mixed && taken == regions) {
        RegionMap complete = incoming;
        incoming = null;
        fetching = false;
        return complete;
      }
      beginAnew();
    }
    return null;
  }

  private RegionMap emptyMap(MemorySegment memory, long base, long epoch) {
    return new RegionMap(
        incarnation,
        epoch,
        Message.getLong(memory, base + Message.MAPPED_TABLE_KEY),
        Message.getLong(memory, base + Message.MAPPED_ENTRIES_OFFSET),
        Message.getLong(memory, base + Message.MAPPED_BUCKETS),
        Message.getLong(memory, base + Message.MAPPED_NEXT_KEY),
        Message.getLong(memory, base + Message.MAPPED_NEXT_BUCKETS),
        geometry.heads());
  }

  private boolean takeRecords(MemorySegment memory, long base, int count) {
    for (int i = 0; i < count; i++) {
      long at = base + Message.MAPPED_RECORDS + (long) i * Message.RECORD_BYTES;
      int head = Message.getInt(memory, at + Message.RECORD_HEAD);
      int index = Message.getInt(memory, at + Message.RECORD_INDEX);
      long key = Message.getLong(memory, at + Message.RECORD_KEY);
      if (head < 0
          || head >= geometry.heads()
          || index < 0
          || index >= geometry.regionsPerHeadMax()
          || key == RegionMap.NONE) {
        state.fail(
            "the server sent a map that names region "
                + index
                + " of head "
                + head
                + ", remote key "
                + key);
        return false;
      }
      incoming.add(head, index, Message.getInt(memory, at + Message.RECORD_GENERATION), key);
    }
    taken += count;
    return true;
  }

  private String wrong(int page, int result, MemorySegment memory, long base, int byteLength) {
    if (result != Result.OK) {
      return "the result " + Result.name(result) + " when asked for the map";
    }
    long told = Message.getLong(memory, base + Message.MAPPED_INCARNATION);
    if (told != incarnation) {
      return "a map of incarnation "
          + Long.toHexString(told)
          + "; welcome said "
          + Long.toHexString(incarnation);
    }
    String wrongTable = wrongTable(memory, base);
    return wrongTable != null ? wrongTable : wrongPage(page, memory, base, byteLength);
  }

  private static String wrongTable(MemorySegment memory, long base) {
    long buckets = Message.getLong(memory, base + Message.MAPPED_BUCKETS);
    int neighbourhood = Message.getInt(memory, base + Message.MAPPED_NEIGHBOURHOOD);
    long entriesOffset = Message.getLong(memory, base + Message.MAPPED_ENTRIES_OFFSET);
    boolean table =
        Long.bitCount(buckets) == 1
            && buckets > 0
            && buckets <= 1L << 48
            && neighbourhood == Neighbourhood.ENTRIES
            && entriesOffset >= 0
            && entriesOffset < 1L << 48
            && (entriesOffset & 7) == 0
            && Message.getLong(memory, base + Message.MAPPED_TABLE_KEY) != 0;
    if (!table) {
      return "a table that can't be: "
          + buckets
          + " buckets, neighbourhoods of "
          + neighbourhood
          + ", entries at "
          + entriesOffset;
    }
    long nextKey = Message.getLong(memory, base + Message.MAPPED_NEXT_KEY);
    long nextBuckets = Message.getLong(memory, base + Message.MAPPED_NEXT_BUCKETS);
    boolean next =
        nextKey == RegionMap.NONE
            ? nextBuckets == 0
            : nextBuckets == 2 * buckets || (nextBuckets > 0 && 2 * nextBuckets == buckets);
    if (!next) {
      return "a table of "
          + buckets
          + " buckets that is resized into one of "
          + nextBuckets
          + ", remote key "
          + nextKey;
    }
    return null;
  }

  /**
   * Returns the error of a page in words; null when the page is valid. A page must begin where the
   * full pages before it end, or at the end of a map that became shorter. It must name all regions
   * that are left, or as many regions as any full page.
   */
  private String wrongPage(int page, MemorySegment memory, long base, int byteLength) {
    int told = Message.getInt(memory, base + Message.MAPPED_REGIONS);
    int first = Message.getInt(memory, base + Message.MAPPED_FIRST);
    int count = Message.getInt(memory, base + Message.MAPPED_COUNT);
    int expected = Math.min(page * pageRegions, told);
    boolean sound =
        told >= 0
            && told <= WelcomeCheck.REGIONS_MAX
            && first == expected
            && count >= 0
            && count <= Message.RECORDS_MAX
            && first + count <= told
            && (count > 0 || first == told)
            && (pageRegions == 0 || count == Math.min(pageRegions, told - first))
            && Message.MAPPED_RECORDS + (long) count * Message.RECORD_BYTES <= byteLength;
    return sound
        ? null
        : "a map page of "
            + count
            + " of "
            + told
            + " regions from "
            + first
            + " in "
            + byteLength
            + " bytes, expected from "
            + expected;
  }
}
