package io.erda.client.connections;

/**
 * An extent of a head's log that only this client writes to, from {@link #cursor} to {@link #end}.
 * Reused for the next extent.
 */
public final class Lease {
  /** The number of the reservation; meaningless while {@link #held} is false. */
  public long reservation;

  boolean held;
  public int regionIndex;
  public int generation;

  /** The remote key with which the server lets this client WRITE to the extent. */
  long grantedKey;

  /** The granted key; {@link RegionMap#NONE} until the client has a map that names the region. */
  public long remoteKey;

  /** The first epoch whose map names the region. */
  long epoch;

  private long cursor;
  private long end;

  void hold(
      long ofReservation,
      int ofIndex,
      int ofGeneration,
      long ofEpoch,
      long key,
      long place,
      int bytes) {
    held = true;
    reservation = ofReservation;
    regionIndex = ofIndex;
    generation = ofGeneration;
    epoch = ofEpoch;
    grantedKey = key;
    remoteKey = RegionMap.NONE;
    cursor = place;
    end = place + bytes;
  }

  void drop() {
    held = false;
    cursor = 0;
    end = 0;
    remoteKey = RegionMap.NONE;
  }

  long remaining() {
    return end - cursor;
  }

  boolean fits(int padded) {
    return remaining() >= padded && remoteKey != RegionMap.NONE;
  }

  /** Takes room for an object and returns its place. REQUIRES: {@link #fits}. */
  public long take(int padded) {
    assert fits(padded) : padded + " bytes, " + remaining() + " are left";
    long place = cursor;
    cursor += padded;
    return place;
  }
}
