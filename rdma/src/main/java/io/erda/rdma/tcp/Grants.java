package io.erda.rdma.tcp;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The ranges that one peer may WRITE, in addition to those that all peers may WRITE. The server's
 * thread grants and revokes, and the I/O thread checks. A key is never reused on one connection.
 */
final class Grants {
  /** A bit that is set in the keys of grants, and in no key of a region. */
  private static final long MARK = 1L << 62;

  private static final int SLOT_BITS = 16;
  private static final int SLOTS_MIN = 16;

  private record Grant(long key, TcpRegion region, long offset, long length) {}

  private volatile AtomicReferenceArray<Grant> slots = new AtomicReferenceArray<>(SLOTS_MIN);
  private long serial;

  static boolean isGrant(long key) {
    return (key & MARK) != 0;
  }

  long grant(TcpRegion region, long offset, long length) {
    if (!region.contains(offset, 0) || length < 0 || length > region.size() - offset) {
      throw new IndexOutOfBoundsException(
          "grant of [" + offset + ", +" + length + ") of " + region.size() + " bytes");
    }
    int slot = freeSlot();
    long key = MARK | ++serial << SLOT_BITS | slot;
    assert serial >>> 46 == 0 : "keys are given twice after " + serial + " grants";
    slots.set(slot, new Grant(key, region, offset, length));
    return key;
  }

  private int freeSlot() {
    AtomicReferenceArray<Grant> all = slots;
    for (int slot = 0; slot < all.length(); slot++) {
      if (all.get(slot) == null) {
        return slot;
      }
    }
    if (all.length() == 1 << SLOT_BITS) {
      throw new IllegalStateException("all " + all.length() + " grants of a connection are in use");
    }
    AtomicReferenceArray<Grant> larger = new AtomicReferenceArray<>(2 * all.length());
    for (int slot = 0; slot < all.length(); slot++) {
      larger.set(slot, all.get(slot));
    }
    slots = larger;
    return all.length();
  }

  void revoke(long key) {
    AtomicReferenceArray<Grant> all = slots;
    int slot = (int) key & (1 << SLOT_BITS) - 1;
    if (slot < all.length()) {
      Grant grant = all.get(slot);
      if (grant != null && grant.key == key) {
        all.set(slot, null);
      }
    }
  }

  /** Returns the region of a granted key; null when the key does not permit WRITEs to the range. */
  TcpRegion region(long key, long offset, int length) {
    AtomicReferenceArray<Grant> all = slots;
    int slot = (int) key & (1 << SLOT_BITS) - 1;
    Grant grant = slot < all.length() ? all.get(slot) : null;
    boolean granted =
        grant != null
            && grant.key == key
            && offset >= grant.offset
            && length >= 0
            && length <= grant.length - (offset - grant.offset);
    return granted ? grant.region : null;
  }
}
