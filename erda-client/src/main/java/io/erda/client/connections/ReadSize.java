package io.erda.client.connections;

import io.erda.logstore.ObjectLayout;

/**
 * The number of bytes that the first READ of an object fetches: a decaying maximum of the sizes of
 * the objects read.
 */
public final class ReadSize {
  private static final int DECAY_SHIFT = 7;

  /** The present number of bytes, a multiple of 8. */
  private int bytes;

  ReadSize(int first) {
    bytes = ObjectLayout.padded(first);
  }

  public int bytes() {
    return bytes;
  }

  /**
   * The length of the first READ of an object that has at most {@code room} bytes, into a buffer of
   * {@code capacity} bytes.
   */
  public int within(int capacity, long room) {
    return (int) Math.min(Math.min(bytes, capacity), room);
  }

  /** Takes the size of an object that was read: {@code padded} bytes. */
  public void met(int padded) {
    int excess = bytes - padded;
    bytes = excess <= 0 ? padded : bytes - (excess >> DECAY_SHIFT & -ObjectLayout.ALIGNMENT);
  }
}
