package io.erda.rdma.rings;

import io.erda.pmem.FailedStoreException;
import io.erda.pmem.MemoryFault;
import io.erda.pmem.MemoryGuard;
import io.erda.pmem.NoRoomToStoreException;
import io.erda.rdma.Access;
import io.erda.rdma.Device;
import io.erda.rdma.Status;
import io.erda.rdma.Work;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.LongSupplier;

/**
 * READ, WRITE and atomic operations on memory that this process has mapped: loads and stores of the
 * posting thread. Each method does the work and returns its status.
 *
 * <p><b>Fencing.</b> After each READ and WRITE this end loads the peer's state and the region's
 * key; after a WRITE a full fence separates its stores from these loads. So either this end sees
 * that the other end has ended, and the work fails, or the other end sees the whole WRITE.
 *
 * <p><b>Missing memory.</b> A load or store in a region's file that somebody shortened, or a store
 * to a page for which the disk has no room, is a fault that the JVM reports late ({@link
 * MemoryGuard}). Each READ and WRITE waits for that report before it ends, so the fault is its own
 * status and never an error in other work.
 */
final class OneSidedWork {
  /**
   * The bytes of a cache line. Processors may fetch the next line too, but those of virtual
   * machines did not: when only every second line was loaded, each copy waited for the other lines,
   * one object after the other ({@code ./erda eval run multiget}).
   */
  private static final int SOON_STRIDE = 64;

  // Guarded work, as constants.

  private static final MemoryGuard.Access<OneSidedWork, Work> LOAD =
      (on, work, _, _, _, _) ->
          on.load(
              (LocalRegion) work.local,
              work.localOffset,
              on.regions.known(work.remoteKey),
              work.remoteOffset,
              work.length);

  private static final MemoryGuard.Access<OneSidedWork, long[]> LOAD_NEARBY =
      (work, places, count, length, _, _) -> work.loadNearby(places, (int) count, (int) length);

  private static final MemoryGuard.Access<OneSidedWork, Work> REACH_AND_STORE =
      (on, work, _, _, _, _) -> on.reachAndStore(work);

  private static final MemoryGuard.Access<OneSidedWork, RemoteRegion> STORE_WORD =
      (work, to, offset, _, value, _) -> work.storeWord(to, offset, value);

  private static final MemoryGuard.Access<OneSidedWork, RemoteRegion> EXCHANGE =
      (work, to, offset, expected, value, _) -> work.exchange(to, offset, expected, value);

  private final Device device;
  private final RemoteRegions.Source source;
  private final RemoteRegions regions;
  private final Ends ends;
  private final Counters counters;
  private final boolean requester;
  private final boolean counted;
  private final long extraWriteLatencyNs;
  private final LongSupplier nanoTime;
  private final SharedMemoryCopy words = new SharedMemoryCopy();
  private final MemoryGuard faults = new MemoryGuard();
  private String lostRegion = "";

  /** The region of the WRITE that is under way; null until the region is mapped. */
  private RemoteRegion reached;

  /** The word that the last compare-and-swap found. */
  private long exchanged;

  /** Addresses that will be READ soon; grows as needed. */
  private long[] soon = new long[0];

  /**
   * The sum of the words that were loaded at these addresses, so that the compiler does not remove
   * the loads.
   */
  @SuppressWarnings("unused")
  private long soonWords;

  /**
   * @param counted whether WRITEs are compared with the bytes that they replace
   * @param extraWriteLatencyNs how long each WRITE is delayed
   */
  OneSidedWork(
      Device device,
      RemoteRegions.Source source,
      RemoteRegions regions,
      Ends ends,
      Counters counters,
      boolean requester,
      boolean counted,
      long extraWriteLatencyNs,
      LongSupplier nanoTime) {
    this.device = device;
    this.source = source;
    this.regions = regions;
    this.ends = ends;
    this.counters = counters;
    this.requester = requester;
    this.counted = counted;
    this.extraWriteLatencyNs = extraWriteLatencyNs;
    this.nanoTime = nanoTime;
  }

  /**
   * Returns in words which memory was missing when work last ended with {@link Status#MEMORY_LOST}.
   */
  String lostRegion() {
    return lostRegion;
  }

  void lostRegion(String description) {
    lostRegion = description;
  }

  /** See {@link io.erda.rdma.QueuePair#memory}. */
  MemorySegment memory(long remoteKey, boolean toStore) {
    RemoteRegion region = regions.known(remoteKey);
    if (region == null || toStore && !region.writable()) {
      region = regions.get(remoteKey, toStore);
    }
    return region != null && (region.writable() || !toStore) ? region.memory() : null;
  }

  // READ.

  /** READs. REQUIRES: the local memory of the work was checked. */
  int read(Work work) {
    RemoteRegion from = regions.get(work.remoteKey, false);
    if (from == null) {
      return unreached();
    }
    if ((from.access() & Access.REMOTE_READ) == 0
        || !from.contains(work.remoteOffset, work.length)) {
      return refusal();
    }
    int status = faults.access(LOAD, this, work, 0, 0, 0, 0);
    return status == MemoryGuard.FAULT ? afterFault(from, false, faults.fault()) : status;
  }

  /**
   * A READ in the usual case.
   *
   * @return whether the READ was done; otherwise call {@link #read}, which finds out the reason
   */
  boolean readNow(LocalRegion to, Work work) {
    long remoteOffset = work.remoteOffset;
    int length = work.length;
    RemoteRegion from = regions.known(work.remoteKey);
    if (from == null
        || (from.access() & Access.REMOTE_READ) == 0
        || !from.contains(remoteOffset, length)) {
      return false;
    }
    long own = to.address + work.localOffset;
    if (((from.address() + remoteOffset | own | length) & 7) != 0) {
      return false;
    }
    to.requireAlive();
    from.loading(remoteOffset, length);
    int status;
    // A call of the guard would put two calls more around the copy. From a blocking get down to the
    // loads of a copy there are about as many as the JVM inlines (MaxInlineLevel), and behind them
    // a get of cached memory took 1.6 times as long.
    try {
      status = copy(from, remoteOffset, own, length);
      faults.surface();
    } catch (InternalError e) {
      faults.take(e);
      status = afterFault(from, false, faults.fault());
    }
    return status == Status.SUCCESS;
  }

  private int copy(RemoteRegion from, long remoteOffset, long own, int length) {
    if (from.isOurs()) {
      Words.copy(from.address() + remoteOffset, own, length);
    } else if (!Words.copyIfThere(from.memory(), remoteOffset, own, length)) {
      return Status.REMOTE_ACCESS;
    }
    return afterRead(from, length);
  }

  /**
   * Loads a word of every cache line of each place, the first lines of all places first. No load
   * waits for another one, so as many are under way as the processor can handle.
   */
  void readSoon(long[] remoteKeys, long[] remoteOffsets, int length, int count) {
    if (length < Long.BYTES) {
      return;
    }
    if (soon.length < count) {
      soon = new long[count];
    }
    int reached = 0;
    for (int i = 0; i < count; i++) {
      RemoteRegion from = regions.known(remoteKeys[i]);
      long offset = remoteOffsets[i];
      if (from != null && from.isOurs() && (offset & 7) == 0) {
        long room = from.length() - offset;
        if (offset >= 0 && room >= length) {
          from.loadingSoon(offset, length);
          soon[reached++] = from.address() + offset;
        }
      }
    }
    if (faults.access(LOAD_NEARBY, this, soon, reached, length, 0, 0) == MemoryGuard.FAULT) {
      // A later READ of the missing memory will report it, unless the memory belongs to another
      // owner.
      requireLossOf(remoteKeys, count, faults.fault());
    }
  }

  private int loadNearby(long[] soon, int count, int length) {
    long words = 0;
    int last = length - Long.BYTES & -Long.BYTES;
    for (int at = 0; at < last; at += SOON_STRIDE) {
      for (int i = 0; i < count; i++) {
        words += Words.plain(soon[i] + at);
      }
    }
    for (int i = 0; i < count; i++) {
      words += Words.plain(soon[i] + last);
    }
    soonWords += words;
    return 0;
  }

  /** Throws the fault unless the shared memory, or a region of one of these keys, is missing. */
  private void requireLossOf(long[] remoteKeys, int count, MemoryFault fault) {
    if (!source.isMemoryLost() && !isAnyLost(remoteKeys, count)) {
      throw fault;
    }
  }

  private boolean isAnyLost(long[] remoteKeys, int count) {
    int lost = 0;
    for (int i = 0; i < count && lost == 0; i++) {
      RemoteRegion region = regions.known(remoteKeys[i]);
      if (region != null && region.isOurs()) {
        lost = faults.step(region, reached -> isLost(reached) ? 1 : 0);
      }
    }
    if (lost == MemoryGuard.FAULT) {
      // The memory with the keys is missing, so no key can be checked any more.
      ends.breakOff();
    }
    return lost != 0;
  }

  private boolean isLost(RemoteRegion region) {
    return !RemoteRegions.isValid(region) || source.describeLoss(region) != null;
  }

  private int load(
      LocalRegion to, long localOffset, RemoteRegion from, long remoteOffset, int length) {
    from.loading(remoteOffset, length);
    long remote = from.address() + remoteOffset;
    long own = to.address + localOffset;
    if (from.isOurs() && ((remote | own | length) & 7) == 0) {
      to.requireAlive();
      Words.copy(remote, own, length);
      return afterRead(from, length);
    }
    try {
      words.load(from.memory(), remoteOffset, remote, to.memory, localOffset, own, length);
    } catch (IllegalStateException e) {
      return lost(from, e);
    }
    return afterRead(from, length);
  }

  private int afterRead(RemoteRegion from, int length) {
    // All later loads, including those of the next READ, come after these.
    VarHandle.acquireFence();
    counters.read(length);
    long state = ends.peerState();
    return state == QueueLayout.OPEN && RemoteRegions.isValid(from)
        ? Status.SUCCESS
        : refused(state, from);
  }

  private int refused(long state, RemoteRegion from) {
    if (state != QueueLayout.OPEN && !(state == QueueLayout.GONE && device.readsOutlivePeer())) {
      return Status.FENCED;
    }
    return RemoteRegions.isValid(from) ? Status.SUCCESS : Status.REMOTE_ACCESS;
  }

  // WRITE.

  /** WRITEs. REQUIRES: the local memory of the work was checked. */
  int write(Work work) {
    reached = null;
    int status = faults.access(REACH_AND_STORE, this, work, 0, 0, 0, 0);
    return status == MemoryGuard.FAULT ? afterFault(reached, true, faults.fault()) : status;
  }

  private int reachAndStore(Work work) {
    int status = ends.sendable();
    if (status != Status.SUCCESS) {
      return status;
    }
    reached = regions.get(work.remoteKey, true);
    if (reached == null) {
      return unreached();
    }
    return isAllowed(reached, Access.REMOTE_WRITE, work.remoteOffset, work.length)
        ? store((LocalRegion) work.local, work.localOffset, reached, work.remoteOffset, work.length)
        : Status.REMOTE_ACCESS;
  }

  private int store(
      LocalRegion from, long localOffset, RemoteRegion to, long remoteOffset, int length) {
    try {
      if (counted) {
        counters.differing(
            SharedMemoryCopy.differing(
                from.memory, localOffset, to.memory(), remoteOffset, length));
      }
      words.store(
          from.memory,
          localOffset,
          from.address + localOffset,
          to.memory(),
          remoteOffset,
          to.address() + remoteOffset,
          length);
    } catch (IllegalStateException e) {
      return lost(to, e);
    }
    counters.write(length);
    if (extraWriteLatencyNs > 0) {
      delay();
    }
    return afterWrite(to);
  }

  private void delay() {
    long until = nanoTime.getAsLong() + extraWriteLatencyNs;
    while (nanoTime.getAsLong() - until < 0) {
      Thread.onSpinWait();
    }
  }

  /**
   * A WRITE counts as done only if neither the queue pair was fenced nor the key was revoked before
   * all its stores were visible.
   */
  private int afterWrite(RemoteRegion to) {
    VarHandle.fullFence();
    if (ends.peerState() != QueueLayout.OPEN) {
      return Status.FENCED;
    }
    return RemoteRegions.isValid(to) ? Status.SUCCESS : Status.REMOTE_ACCESS;
  }

  // Atomic WRITE and compare-and-swap.

  int atomicWrite(Work work) {
    int status = ends.sendable();
    if (status != Status.SUCCESS) {
      return status;
    }
    RemoteRegion to = word(work, Access.REMOTE_WRITE);
    return to == null
        ? Status.REMOTE_ACCESS
        : onWord(STORE_WORD, to, work.remoteOffset, 0, work.value);
  }

  /** Returns the region whose word the work may change; null when there is none. */
  private RemoteRegion word(Work work, int access) {
    RemoteRegion to = regions.get(work.remoteKey, true);
    return to != null
            && isWord(to, work.remoteOffset)
            && isAllowed(to, access, work.remoteOffset, Long.BYTES)
        ? to
        : null;
  }

  private int storeWord(RemoteRegion to, long remoteOffset, long value) {
    if (counted) {
      counters.differing(
          differing((long) QueueLayout.WORD.getOpaque(to.memory(), remoteOffset), value));
    }
    QueueLayout.WORD.setRelease(to.memory(), remoteOffset, value);
    counters.write(Long.BYTES);
    return afterWrite(to);
  }

  private int onWord(
      MemoryGuard.Access<OneSidedWork, RemoteRegion> work,
      RemoteRegion region,
      long offset,
      long expected,
      long value) {
    int status = faults.access(work, this, region, offset, expected, value, 0);
    return status == MemoryGuard.FAULT ? afterFault(region, true, faults.fault()) : status;
  }

  /**
   * @param old gets the former word
   */
  int compareAndSwap(LocalRegion old, Work work) {
    int status = ends.sendable();
    if (status != Status.SUCCESS) {
      return status;
    }
    RemoteRegion to = word(work, Access.REMOTE_ATOMIC);
    return to == null ? Status.REMOTE_ACCESS : swapWord(old, to, work);
  }

  private int swapWord(LocalRegion old, RemoteRegion to, Work work) {
    int status = onWord(EXCHANGE, to, work.remoteOffset, work.expected, work.value);
    if (status != Status.SUCCESS) {
      return status;
    }
    long was = exchanged;
    if (was == work.expected) {
      counters.write(Long.BYTES);
      if (counted) {
        counters.differing(differing(was, work.value));
      }
    }
    old.memory.set(QueueLayout.LONG.withByteAlignment(1), work.localOffset, was);
    return afterWrite(to);
  }

  private int exchange(RemoteRegion to, long remoteOffset, long expected, long value) {
    // Load the word first: when memory is missing, the interpreter's compare-and-swap ends the
    // process, but a load does not.
    exchanged = (long) QueueLayout.WORD.getOpaque(to.memory(), remoteOffset);
    faults.surface();
    exchanged =
        (long) QueueLayout.WORD.compareAndExchange(to.memory(), remoteOffset, expected, value);
    return Status.SUCCESS;
  }

  private static boolean isWord(RemoteRegion region, long offset) {
    return (region.address() + offset & 7) == 0;
  }

  private static int differing(long old, long value) {
    int bytes = 0;
    for (long bits = old ^ value; bits != 0; bits >>>= 8) {
      bytes += (bits & 0xff) != 0 ? 1 : 0;
    }
    return bytes;
  }

  // The status of work that was not done.

  /**
   * Whether the access is allowed. Checked before a store, so that no WRITE is done by a revoked
   * key.
   */
  private static boolean isAllowed(RemoteRegion region, int access, long offset, int length) {
    return (region.access() & access) != 0
        && region.contains(offset, length)
        && RemoteRegions.isValid(region);
  }

  private int unreached() {
    int status = refusal();
    return status == Status.REMOTE_ACCESS ? source.reachFailure() : status;
  }

  private int refusal() {
    if (!regions.isOpen() && requester) {
      return Status.FLUSHED;
    }
    return ends.peerState() == QueueLayout.FENCED ? Status.FENCED : Status.REMOTE_ACCESS;
  }

  /**
   * Handles that the owner of the memory closed it during the access. This is no error if the owner
   * had revoked the key before.
   */
  private static int lost(RemoteRegion region, IllegalStateException e) {
    if (RemoteRegions.isValid(region)) {
      throw e;
    }
    return Status.REMOTE_ACCESS;
  }

  /**
   * Returns the status of work that met missing memory; never SUCCESS.
   *
   * @param region null when no region was mapped yet
   * @param stored whether the work stored to the peer's memory
   * @throws MemoryFault when no memory of the peer is missing; then the missing memory belongs to
   *     another owner
   */
  private int afterFault(RemoteRegion region, boolean stored, MemoryFault fault) {
    if (source.isMemoryLost()) {
      return Status.FENCED;
    }
    if (region == null) {
      throw fault;
    }
    int valid = faults.step(region, reached -> RemoteRegions.isValid(reached) ? 1 : 0);
    if (valid == MemoryGuard.FAULT) {
      // The memory with the keys is missing, so no key can be checked any more.
      ends.breakOff();
      return Status.FENCED;
    }
    if (valid == 0) {
      return Status.REMOTE_ACCESS;
    }
    String loss = source.describeLoss(region);
    if (loss != null) {
      lostRegion = loss;
      return Status.MEMORY_LOST;
    }
    if (!stored) {
      throw fault;
    }
    FailedStoreException failure = source.storeFailure(region);
    lostRegion =
        failure == null ? "the disk has no room for a page of a file" : failure.getMessage();
    return failure == null || failure instanceof NoRoomToStoreException
        ? Status.NO_SPACE
        : Status.MEMORY_LOST;
  }
}
