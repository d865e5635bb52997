package io.erda.cleaner;

import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import java.lang.foreign.MemorySegment;

/** The region that is being cleaned, what names it, and what of it is loaded ahead. */
final class Victim {
  /** Places whose objects are loaded together, before they are looked at. */
  static final int LOADED = 16;

  /** At most so many bytes are read from the device ahead of the place that is looked at. */
  private static final long AHEAD_BYTES_MAX = 1 << 20;

  /** The kernel is told so much at a time: of more it may read the beginning only. */
  private static final int WINDOWS_AHEAD = 8;

  final Region region;
  final LogGeometry geometry;
  final MemorySegment memory;

  /** The bits that all offsets in the region have in common: those of the mask for regions. */
  final int offsetBits;

  /** Up to where the region is in memory, or comes. */
  private long readTo;

  /** Kept so that the loads are not left out. */
  @SuppressWarnings("unused")
  private int loadedLengths;

  Victim(Region region, LogGeometry geometry) {
    this.region = region;
    this.geometry = geometry;
    this.memory = region.memory().segment();
    this.offsetBits = geometry.offset(region.index(), 0);
  }

  /** Whether a word names an object of the region. */
  boolean isNamedBy(long word) {
    return holds(VersionWord.newest(word)) || holds(VersionWord.older(word));
  }

  /** Whether an offset lies in the region. */
  boolean holds(int offset) {
    return offset != VersionWord.NONE && geometry.regionIndex(offset) == region.index();
  }

  /** Its places are looked at in their order, from the beginning once more. */
  void rewind() {
    readTo = 0;
  }

  /**
   * Has the objects at some places loaded, the lowest first: the cache misses of many are under way
   * at a time. Nothing is believed of what is loaded here.
   */
  void loadAhead(long[] placesAhead, int count) {
    if (count == 0) {
      return;
    }
    readAhead(placesAhead[0]);
    int lengths = 0;
    for (int i = 0; i < count; i++) {
      lengths += ObjectLayout.keyLength(memory, placesAhead[i]);
    }
    loadedLengths = lengths;
  }

  private void readAhead(long place) {
    long aheadBytes = Math.min(AHEAD_BYTES_MAX, geometry.regionBytes() / 2);
    long window = aheadBytes / WINDOWS_AHEAD;
    readTo = Math.max(readTo, place);
    while (readTo < Math.min(place + aheadBytes, geometry.regionBytes())) {
      long length = Math.min(window, geometry.regionBytes() - readTo);
      region.memory().readAhead(readTo, length);
      readTo += length;
    }
  }
}
