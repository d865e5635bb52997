package io.erda.rdma.rings;

import io.erda.pmem.FailedStoreException;
import java.util.Arrays;

/** The regions of the peer that one end has access to, by the slot of their keys. */
final class RemoteRegions {
  /** Provides access to the peer's memory for a kind of device, and explains faults. */
  interface Source {
    /**
     * Returns access to a region of the peer, for the first time or for the first WRITE; null when
     * that failed.
     */
    RemoteRegion reach(long key, boolean toWrite);

    /** Returns the status that explains why {@link #reach} last returned null. */
    int reachFailure();

    /** Called when a region and its key are not used any more. */
    default void leave(RemoteRegion region) {}

    /** Called when another region, or another mapping of the same region, has replaced this one. */
    default void supersede(RemoteRegion region) {}

    /**
     * Returns in words how the file of a region was shortened, for messages; null when it was not
     * shortened. Called after a fault.
     */
    String describeLoss(RemoteRegion region);

    /**
     * Returns the reason for which a store to a region failed whose file was not shortened; null
     * when the region has no file. Called after a fault.
     */
    default FailedStoreException storeFailure(RemoteRegion region) {
      return null;
    }

    /**
     * Finds out whether the memory that both ends share is missing, and notes that. Called after a
     * fault.
     */
    boolean isMemoryLost();
  }

  private static final int SLOTS_MIN = 16;

  private final Source source;
  private RemoteRegion[] bySlot = new RemoteRegion[SLOTS_MIN];

  /** Whether the memory with the peer's valid keys is accessible. */
  private boolean open;

  RemoteRegions(Source source) {
    this.source = source;
  }

  /**
   * Notes that the memory with the peer's valid keys is accessible, so that regions can be
   * accessed, too.
   */
  void open() {
    assert !open : "the registry is reached twice";
    open = true;
  }

  boolean isOpen() {
    return open;
  }

  /** Returns a region that was accessed before, or null. */
  RemoteRegion known(long key) {
    int slot = RegistryLayout.slot(key);
    if (slot >= bySlot.length) {
      return null;
    }
    RemoteRegion region = bySlot[slot];
    return region != null && region.key() == key ? region : null;
  }

  /** Returns a region, and gets access to it if necessary; null when that fails. */
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

  /** Whether the key of a region is still valid. */
  static boolean isValid(RemoteRegion region) {
    return Words.acquire(region.keyAddress()) == region.key();
  }
}
