package io.erda.rdma.rings;

import io.erda.pmem.FailedStoreException;
import java.util.Arrays;

/** The regions of the peer's that one end has reached, by the slot of their keys. */
final class RemoteRegions {
  /** How a device reaches the peer's memory, and what it knows of memory that went away. */
  interface Source {
    /**
     * Reaches a region of the peer's for the first time, or for the first WRITE; null when the key
     * is not valid.
     */
    RemoteRegion reach(long key, boolean toWrite);

    /** Why {@link #reach} returned null the last time, a status. */
    int reachFailure();

    /** A region is not used any more, and its key is not either. */
    default void leave(RemoteRegion region) {}

    /** Another region, or another mapping of the same one, took the place of this one. */
    default void supersede(RemoteRegion region) {}

    /**
     * What became of the file that a region is mapped from, for messages; null when nothing did.
     * Asked after a fault.
     */
    String describeLoss(RemoteRegion region);

    /**
     * Why a store to a region failed whose file is as long as it was. Asked after a fault; null
     * when it has no file.
     */
    default FailedStoreException storeFailure(RemoteRegion region) {
      return null;
    }

    /** Whether the memory that both ends share is gone; notes it. Asked after a fault. */
    boolean isMemoryLost();
  }

  private static final int SLOTS_MIN = 16;

  private final Source source;
  private RemoteRegion[] bySlot = new RemoteRegion[SLOTS_MIN];

  /** Whether it is known where the peer shows which keys are valid. */
  private boolean open;

  RemoteRegions(Source source) {
    this.source = source;
  }

  /** The place where the peer shows its valid keys was reached: regions can be too. */
  void open() {
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

  /** A region, reached now if need be; null when that can't be. */
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

  /** Gives up a region whose key is not used any more. */
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
