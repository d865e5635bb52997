package io.erda.logstore;

/**
 * The sizes of a log. All components but the last two are fixed when a store is created; the last
 * two change with its capacity.
 *
 * @param heads 1…256
 * @param regionBytes a power of two, 64 KiB … 1 GiB
 * @param segmentBytes a power of two, 4 KiB … 16 MiB, at most {@code regionBytes}
 * @param regionsMax the most regions that may be linked at a time, 1…65536; a head links at most
 *     {@link #regionsPerHeadMax()}
 * @param resizedSlots records of the region table, {@code regionsMax}…65536, in a store whose
 *     capacity was changed since its creation; 0 in any other store, see {@link #slots()}
 */
public record LogGeometry(
    int heads, long regionBytes, int segmentBytes, int regionsMax, int resizedSlots) {
  public static final long REGION_BYTES_MAX = 1L << 30;
  public static final long REGION_BYTES_MIN = 1L << 16;
  public static final int SEGMENT_BYTES_DEFAULT = 8 << 20;
  public static final int REGIONS_MAX = 65536;

  public LogGeometry {
    if (heads < 1 || heads > 256) {
      throw new IllegalArgumentException("heads must be 1 to 256: " + heads);
    }
    if (Long.bitCount(regionBytes) != 1
        || regionBytes < REGION_BYTES_MIN
        || regionBytes > REGION_BYTES_MAX) {
      throw new IllegalArgumentException(
          "region size must be a power of two from 64 KiB to 1 GiB: " + regionBytes);
    }
    if (Integer.bitCount(segmentBytes) != 1
        || segmentBytes < 4096
        || segmentBytes > 16 << 20
        || segmentBytes > regionBytes) {
      throw new IllegalArgumentException(
          "segment size must be a power of two from 4 KiB to 16 MiB and at most the region size: "
              + segmentBytes);
    }
    if (regionsMax < 1 || regionsMax > REGIONS_MAX) {
      throw new IllegalArgumentException("regions must be 1 to 65536: " + regionsMax);
    }
    if (resizedSlots != 0 && (resizedSlots < regionsMax || resizedSlots > REGIONS_MAX)) {
      throw new IllegalArgumentException(
          "slots must be " + regionsMax + ", as many as regions, to 65536: " + resizedSlots);
    }
  }

  /** Makes the sizes of a log whose capacity was not changed since its creation. */
  public LogGeometry(int heads, long regionBytes, int segmentBytes, int regionsMax) {
    this(heads, regionBytes, segmentBytes, regionsMax, 0);
  }

  /**
   * Returns the sizes of the same log when another number of regions may be linked. The region
   * table never becomes shorter.
   */
  public LogGeometry withRegionsMax(int regions) {
    return new LogGeometry(heads, regionBytes, segmentBytes, regions, Math.max(slots(), regions));
  }

  /**
   * Returns the number of records of the region table: the number of regions, or more when more
   * regions were allowed before.
   */
  public int slots() {
    return resizedSlots == 0 ? regionsMax : resizedSlots;
  }

  /** Regions that a head can link: 31-bit offsets reach 16 GiB. */
  public int regionsPerHeadMax() {
    return (int) Math.min(slots(), (1L << 34) / regionBytes);
  }

  /** The most bytes that may ever be linked, by {@code regionsMax} and by 16 GiB for each head. */
  public long capacityBytes() {
    return Math.min(regionsMax, (long) heads * regionsPerHeadMax()) * regionBytes;
  }

  /**
   * Index of the region that holds an offset (8-byte units, not negative) along a head's regions.
   * The sizes are powers of two so that this is a shift and no division, because every get and put
   * calls it.
   */
  public int regionIndex(int offset) {
    return (int) (((long) offset << 3) >>> Long.numberOfTrailingZeros(regionBytes));
  }

  /** Returns the bits of an offset that select the region. */
  public int regionMask() {
    return Integer.MAX_VALUE & -offset(1, 0);
  }

  /** Place in its region of an offset, bytes. */
  public long place(int offset) {
    return ((long) offset << 3) & (regionBytes - 1);
  }

  /** Offset along the head's regions, 8-byte units. */
  public int offset(int regionIndex, long place) {
    return (int) ((regionIndex * regionBytes + place) >>> 3);
  }

  /**
   * Returns the number of bytes from a place to the end of its segment, which is the most that an
   * object at that place may take. The place after the last byte of a segment belongs to the next
   * segment.
   */
  public long room(long place) {
    return segmentBytes - (place & (segmentBytes - 1));
  }

  /** Where the segment ends that holds a place; a place in the region, bytes. */
  public long segmentEnd(long place) {
    return place + room(place);
  }

  /**
   * Returns the place of an object that is put at or after {@code place}: at {@code place}, or at
   * the beginning of the next segment when the rest of this segment is too short.
   *
   * <p>Objects that are packed in this way never need more room when some of them are left out, or
   * when they begin at a lower place: by induction, the end of the objects packed so far is never
   * higher.
   */
  public long placeBehind(long place, int padded) {
    return room(place) < padded ? segmentEnd(place) : place;
  }

  /**
   * Returns the length of the longest object in bytes: it fits into the first segment after the
   * region header.
   */
  public int objectBytesMax() {
    return segmentBytes - Region.HEADER_BYTES;
  }

  /**
   * Returns the length of the longest key of such a store in bytes: that of a message, or half of
   * the longest object.
   */
  public int keyBytesMax(int messageMax) {
    return Math.min(messageMax, objectBytesMax() / 2);
  }

  /** The longest value of such a store, bytes, with a key of one byte. */
  public int valueBytesMax() {
    return Math.min(ObjectLayout.VALUE_BYTES_MAX, objectBytesMax() - ObjectLayout.HEADER_BYTES - 1);
  }
}
