package io.erda.cleaner;

/**
 * A set of 8-byte places of one region, which are taken out in rising order. It has a bit for each
 * place, in parts that are allocated on demand, so that no single call takes long.
 */
final class PlaceSet {
  private static final int PART_BITS = 20;
  private static final int PART_WORDS = 1 << PART_BITS - 6;

  private final long[][] parts;
  private long size;
  private long cursor;

  PlaceSet(long regionBytes) {
    parts = new long[(int) ((regionBytes >>> 3) + (1 << PART_BITS) - 1 >>> PART_BITS)][];
  }

  long size() {
    return size;
  }

  /**
   * Adds a place. REQUIRES: no place was taken since the set was empty, or this place is above the
   * places that were taken.
   */
  void add(long place) {
    assert place >= cursor && (place & 7) == 0
        : "place " + place + ", and those before " + cursor + " were taken";
    long bit = place >>> 3;
    int part = (int) (bit >>> PART_BITS);
    if (parts[part] == null) {
      parts[part] = new long[PART_WORDS];
    }
    int word = (int) (bit >>> 6) & PART_WORDS - 1;
    long before = parts[part][word];
    parts[part][word] = before | 1L << bit;
    size += parts[part][word] == before ? 0 : 1;
  }

  /** The lowest place that is not below {@code place}, or −1. */
  long next(long place) {
    long bit = place >>> 3;
    int part = (int) (bit >>> PART_BITS);
    int word = (int) (bit >>> 6) & PART_WORDS - 1;
    long mask = -1L << bit;
    for (; part < parts.length; part++) {
      for (; parts[part] != null && word < PART_WORDS; word++) {
        long bits = parts[part][word] & mask;
        mask = -1;
        if (bits != 0) {
          long found = ((long) part << PART_BITS) + ((long) word << 6);
          return found + Long.numberOfTrailingZeros(bits) << 3;
        }
      }
      mask = -1;
      word = 0;
    }
    return -1;
  }

  /** Stores the lowest places in order, as many as fit. Returns how many. */
  int lowest(long[] into) {
    return size == 0 ? 0 : from(cursor, into);
  }

  /** As {@link #lowest}, for places that are not below {@code first}. */
  int from(long first, long[] into) {
    int count = 0;
    for (long place = next(first); place >= 0 && count < into.length; ) {
      into[count++] = place;
      place = next(place + 8);
    }
    return count;
  }

  /** Removes and returns the lowest place; −1 when the set is empty. */
  long take() {
    if (size == 0) {
      cursor = 0;
      return -1;
    }
    long place = next(cursor);
    long bit = place >>> 3;
    parts[(int) (bit >>> PART_BITS)][(int) (bit >>> 6) & PART_WORDS - 1] &= ~(1L << bit);
    size--;
    cursor = size == 0 ? 0 : place;
    return place;
  }

  void clear() {
    java.util.Arrays.fill(parts, null);
    size = 0;
    cursor = 0;
  }
}
