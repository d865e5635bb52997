package io.erda.client.connections;

/**
 * The number of a piece of work, which its completion returns: the slot of its operation, and a
 * serial number that tells attempts of one operation apart.
 */
public final class WorkId {
  private static final int SLOT_BITS = 16;
  private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;

  public static long of(long serial, int slot) {
    return serial << SLOT_BITS | slot;
  }

  static int slot(long workId) {
    return (int) workId & SLOT_MASK;
  }

  static long serial(long workId) {
    return workId >>> SLOT_BITS;
  }

  private WorkId() {}
}
