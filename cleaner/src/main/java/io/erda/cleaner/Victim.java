package io.erda.cleaner;

import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;
import java.lang.foreign.MemorySegment;

/** The region that is being cleaned: tests whether words name it, and loads its objects ahead. */
final class Victim {
  /** The number of places whose objects are loaded together before they are examined. */
  static final int LOADED = 16;

  /** The most bytes that are read from the device ahead of the current place. */
  private static final long AHEAD_BYTES_MAX = 1 << 20;

  /**
   * The number of parts in which the kernel is told to read ahead, because it may read only the
   * beginning of a longer range.
   */
  private static final int WINDOWS_AHEAD = 8;

  final Region region;
  final LogGeometry geometry;
  final MemorySegment memory;

  /** The common bits of all offsets in the region, under the mask for regions. */
  final int offsetBits;

  /** The place up to which the region was read, or is being read, from the device. */
  private long readTo;

  /** The sum of loaded values, so that the compiler keeps the loads. */
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

  /** Starts again at the first place. */
  void rewind() {
    readTo = 0;
  }

  /**
   * Loads the objects at some places, the lowest first, so that their cache misses overlap. The
   * loaded values are not used.
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
