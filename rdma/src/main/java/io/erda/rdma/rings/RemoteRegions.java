package io.erda.rdma.rings;

import io.erda.pmem.FailedStoreException;
import java.util.Arrays;

/** The regions of the peer's that one end has reached, by the slot of their keys. */
final class RemoteRegions {
  /** Reaches the peer's memory for a device, and explains faults. */
  interface Source {
    /**
     * Reaches a region of the peer for the first time, or for the first WRITE; null when that
     * failed.
     */
    RemoteRegion reach(long key, boolean toWrite);

    /** Why {@link #reach} last returned null, a status. */
    int reachFailure();

    /** Called when a region and its key are not used any more. */
    default void leave(RemoteRegion region) {}

    /**
     * Called when another region, or another mapping of the same one, took the place of this one.
     */
    default void supersede(RemoteRegion region) {}

    /**
     * How the file of a region was shortened, for messages; null when it was not. Called after a
     * fault.
     */
    String describeLoss(RemoteRegion region);

    /**
     * Why a store to a region failed whose file was not shortened; null when it has no file. Called
     * after a fault.
     */
    default FailedStoreException storeFailure(RemoteRegion region) {
      return null;
    }

    /** Whether the memory that both ends share is gone; notes it. Called after a fault. */
    boolean isMemoryLost();
  }

  private static final int SLOTS_MIN = 16;

  private final Source source;
  private RemoteRegion[] bySlot = new RemoteRegion[SLOTS_MIN];

  /** Whether the place where the peer shows its valid keys was reached. */
  private boolean open;

  RemoteRegions(Source source) {
    this.source = source;
  }

  /**
   * Says that the place where the peer shows its valid keys was reached, so that regions can be.
   */
  void open() {
    assert !open : "the registry is reached twice";
    open = true;
  }

  boolean isOpen() {
    return open;
  }

  /** A region that was reached before, or null. */
  RemoteRegion known(long key) {
    int slot = RegistryLayout.slot(key);
    if (slot >= bySlot.length) {
      return null;
    }
    RemoteRegion region = bySlot[slot];
    return region != null && region.key() == key ? region : null;
  }

  /** A region, reached now if need be; null when that fails. */
  RemoteRegion get(long key, boolean toWrite) {
    RemoteRegion region = known(key);
    if (region != null && (region.writable() || !toWrite)) {
      return region;
    }
    return open ? reachFirst(key, toWrite) : null;
  }

  private RemoteRegion reachFirst(long key, boolean toWrite) {
    RemoteRegion found = source.reach(key, toWrite);
    if (found == null) {
      return null;
    }
    assert found.key() == key : found + " instead of " + key;
    int slot = RegistryLayout.slot(key);
    if (slot >= bySlot.length) {
      bySlot = Arrays.copyOf(bySlot, Math.max(slot + 1, 2 * bySlot.length));
    }
    if (bySlot[slot] != null) {
      source.supersede(bySlot[slot]);
    }
    bySlot[slot] = found;
    return found;
  }

  /** Releases a region whose key is not used any more. */
  void forget(long key) {
    RemoteRegion region = known(key);
    if (region != null) {
      source.leave(region);
      bySlot[RegistryLayout.slot(key)] = null;
    }
  }

  /** Whether the owner of a region still shows its key. */
  static boolean isValid(RemoteRegion region) {
    return Words.acquire(region.keyAddress()) == region.key();
  }
}
