package io.erda.cleaner;

import io.erda.logstore.LogGeometry;
import io.erda.logstore.ObjectLayout;
import io.erda.logstore.Region;

/**
 * Measures the space that copies of the objects at the marked places need when they are packed in
 * their order. The space depends on the place where the copies begin, because an object does not
 * cross the end of a segment ({@link LogGeometry#placeBehind}).
 */
final class Measurement {
  private final Victim victim;
  private final PlaceSet places;
  private final long[] ahead = new long[Victim.LOADED];
  private long measuredTo;
  private long fresh;
  private long aligned;
  private long onward;

  Measurement(Victim victim, PlaceSet places) {
    this.victim = victim;
    this.places = places;
  }

  /**
   * Begins.
   *
   * @param next where an existing copy space goes on; 0 when there is none
   */
  void begin(long next) {
    victim.rewind();
    measuredTo = 0;
    fresh = Region.HEADER_BYTES;
    aligned = 0;
    onward = next;
  }

  /**
   * Takes one step. Returns whether all places were measured.
   *
   * @param carries whether tombstones are copied too
   */
  boolean step(boolean carries) {
    int count = places.from(measuredTo, ahead);
    if (count == 0) {
      return true;
    }
    victim.loadAhead(ahead, count);
    LogGeometry geometry = victim.geometry;
    for (int i = 0; i < count; i++) {
      long place = ahead[i];
      if (ObjectLayout.plausible(victim.memory, place, geometry.room(place))
          && (carries || !ObjectLayout.tombstone(victim.memory, place))) {
        int padded =
            ObjectLayout.padded(
                ObjectLayout.bytes(
                    ObjectLayout.keyLength(victim.memory, place),
                    ObjectLayout.valueLength(victim.memory, place)));
        fresh = geometry.placeBehind(fresh, padded) + padded;
        aligned = geometry.placeBehind(aligned, padded) + padded;
        onward = geometry.placeBehind(onward, padded) + padded;
      }
      measuredTo = place + ObjectLayout.ALIGNMENT;
    }
    return false;
  }

  /** Returns the end of the copies in a region of their own. */
  long fresh() {
    return fresh;
  }

  /** Length of the copies when they begin at a segment. */
  long aligned() {
    return aligned;
  }

  /** Returns the end of the copies in the existing copy space. */
  long onward() {
    return onward;
  }

  /** Bytes of the copies. */
  long bytes() {
    return fresh - Region.HEADER_BYTES;
  }

  /** The progress, thousandths. */
  long progress() {
    return 1000 * Math.max(0, measuredTo) / victim.geometry.regionBytes();
  }
}
