package io.erda.rdma.embedded;

import io.erda.pmem.Backing;
import io.erda.pmem.FailedStoreException;
import io.erda.pmem.MappedFault;
import io.erda.rdma.Status;
import io.erda.rdma.rings.LocalRegion;
import io.erda.rdma.rings.QueueLayout;
import io.erda.rdma.rings.RegistryLayout;
import io.erda.rdma.rings.RemoteRegion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Connects the embedded devices of one JVM: addresses and remote keys. Thread-safe; each device
 * that it makes belongs to one thread. It owns nothing: the garbage collector frees its memory.
 */
public final class EmbeddedNetwork {
  private final LongSupplier nanoTime;
  private final Map<String, EmbeddedListener> listeners = new HashMap<>();
  private final AtomicReferenceArray<LocalRegion> regions =
      new AtomicReferenceArray<>(RegistryLayout.SLOTS);

  /** One word for each slot: the slot's key while it is valid, otherwise 0. */
  private final MemorySegment registry = Arena.ofAuto().allocate(8L * RegistryLayout.SLOTS, 8);

  private final AtomicLong nextSequence = new AtomicLong(1);

  private final Function<Throwable, String> inWords;
  private volatile boolean closed;

  /** The error that ended the store, if it ended before it was closed; otherwise null. */
  private volatile Throwable failure;

  /**
   * @param nanoTime a monotonic clock, for time-outs
   */
  public EmbeddedNetwork(LongSupplier nanoTime) {
    this(nanoTime, Throwable::toString);
  }

  /**
   * @param nanoTime a monotonic clock, for time-outs
   * @param inWords says for a user that the store ended with an error
   */
  public EmbeddedNetwork(LongSupplier nanoTime, Function<Throwable, String> inWords) {
    this.nanoTime = nanoTime;
    this.inWords = inWords;
  }

  /** A device that neither compares nor delays WRITEs. */
  public EmbeddedDevice device() {
    return device(false, 0);
  }

  /**
   * A device.
   *
   * @param counted whether its WRITEs are compared with the bytes that they replace, for {@code
   *     DeviceStatistics.bytesDiffering}
   * @param extraWriteLatencyNs how much longer each WRITE takes
   */
  public EmbeddedDevice device(boolean counted, long extraWriteLatencyNs) {
    return new EmbeddedDevice(this, counted, extraWriteLatencyNs, nanoTime);
  }

  /**
   * Notes that the store that was served here is being closed. From now on no connection is made,
   * and connections end with {@link Status#CLOSED}. Any thread may call it. Idempotent.
   */
  public synchronized void close() {
    closed = true;
  }

  /**
   * As {@link #close()}, for a store that ended with an error, which its clients are told.
   * Allocates nothing, because the heap may be full.
   */
  public synchronized void fail(Throwable error) {
    if (!closed) {
      failure = error;
      closed = true;
    }
  }

  boolean isClosed() {
    return closed;
  }

  /** Why it is closed, in words; empty while it is not. */
  String whyClosed() {
    Throwable error = failure;
    if (error != null) {
      return inWords.apply(error);
    }
    return closed ? Status.name(Status.CLOSED) : "";
  }

  /** Takes no lock: whoever takes a step of a server must not wait for one. */
  LocalRegion register(EmbeddedDevice device, MemorySegment memory, Backing backing, int access) {
    for (int i = 0; i < RegistryLayout.SLOTS; i++) {
      long sequence = nextSequence.getAndIncrement();
      int slot = (int) (sequence % RegistryLayout.SLOTS);
      if (regions.get(slot) == null) {
        long key = RegistryLayout.key(sequence, slot);
        LocalRegion region = new LocalRegion(device, memory, backing, access, key);
        if (regions.compareAndSet(slot, null, region)) {
          QueueLayout.WORD.setRelease(registry, 8L * slot, key);
          return region;
        }
      }
    }
    throw new IllegalStateException("all " + RegistryLayout.SLOTS + " regions are in use");
  }

  /** Called once for a key, by the device that it belongs to. Takes no lock. */
  void deregister(long key) {
    int slot = RegistryLayout.slot(key);
    LocalRegion region = regions.get(slot);
    if (region != null && region.remoteKey() == key) {
      QueueLayout.WORD.setVolatile(registry, 8L * slot, 0L);
      regions.set(slot, null);
    }
  }

  RemoteRegion reach(long key) {
    int slot = RegistryLayout.slot(key);
    LocalRegion region = slot < RegistryLayout.SLOTS ? regions.get(slot) : null;
    if (region == null || region.remoteKey() != key) {
      return null;
    }
    return new RemoteRegion(
        key,
        registry.address() + 8L * slot,
        region.memory,
        true,
        region.address,
        region.memory.byteSize(),
        region.access,
        null);
  }

  /**
   * Returns in words how much of a region's file is left; null when it was not shortened, or the
   * region is unknown.
   */
  String describeLoss(long key) {
    LocalRegion region = regions.get(RegistryLayout.slot(key));
    if (region == null || region.remoteKey() != key || region.backing.file() == null) {
      return null;
    }
    try {
      Backing backing = region.backing;
      return RemoteRegion.describeLoss(
          backing.file().getFileName().toString(),
          backing.fileBytes(),
          backing.offset() + backing.length());
    } catch (IOException e) {
      return null;
    }
  }

  /** Why a store to a region failed; null where it has no file. */
  FailedStoreException storeFailure(RemoteRegion region) {
    LocalRegion local = regions.get(RegistryLayout.slot(region.key()));
    return local == null || local.remoteKey() != region.key() || local.backing.file() == null
        ? null
        : MappedFault.ofStore(
            local.backing.file(),
            local.backing.file().toAbsolutePath().getParent(),
            region.memory(),
            0,
            region.length());
  }

  MemorySegment registry() {
    return registry;
  }

  synchronized boolean listen(EmbeddedListener listener) {
    return listeners.putIfAbsent(listener.address(), listener) == null;
  }

  synchronized void unlisten(EmbeddedListener listener) {
    listeners.remove(listener.address(), listener);
  }

  synchronized EmbeddedListener listener(String address) {
    return listeners.get(address);
  }
}
