package io.erda.verbs;

import com.ibm.disni.verbs.IbvMr;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import io.erda.verbs.ffm.Alias;
import io.erda.verbs.ffm.Offered;
import io.erda.verbs.ffm.VerbsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that a device has registered and not deregistered yet, which hardware can reach. Any
 * thread may read its two figures.
 */
final class Regions {
  private static final int EFAULT = 14;
  private static final int EOPNOTSUPP = 95;
  private static final String INSTEAD =
      "; a store on tmpfs (/dev/shm) or on a devdax device can be registered";

  /**
   * A property that permits on-demand paging over soft RDMA, for a test that READs and WRITEs only
   * at the beginning of pages.
   */
  private static final String SOFT_TOO = "erda.rdma.ondemand.soft";

  private final VerbsDevice device;
  private final Set<VerbsRegion> regions = new HashSet<>();

  /** The regions that peers may FLUSH. */
  private final Set<VerbsRegion> flushed = new HashSet<>();

  private int generation;

  /**
   * How many regions were ever registered for on-demand paging, and how many regions peers may
   * FLUSH now.
   */
  final AtomicLong onDemand = new AtomicLong();

  final AtomicLong flushable = new AtomicLong();

  Regions(VerbsDevice device, int generation) {
    this.device = device;
    this.generation = generation;
  }

  /**
   * The kinds of FLUSH that together have the effect of a memory's {@link PersistentMemory#drain}.
   * There is none for files that are synchronised, because no device can do that.
   *
   * @return {@code IBV_ACCESS_FLUSH_…}
   */
  static int flushAccess(Offered offered, PersistentMemory memory) {
    boolean persistent = memory.survives() == Survives.POWER_FAILURE;
    if (!offered.flushes() || memory.drainWaitsForDevice() || persistent && !offered.persists()) {
      return 0;
    }
    return persistent
        ? Offered.ACCESS_FLUSH_GLOBAL | Offered.ACCESS_FLUSH_PERSISTENT
        : Offered.ACCESS_FLUSH_GLOBAL;
  }

  /**
   * Registers memory, without FLUSH if the kernel does not permit FLUSH for this memory.
   *
   * @param flags {@code IBV_ACCESS_…} without FLUSH
   * @param flush the result of {@link #flushAccess}
   * @param remote whether peers get its key
   */
  VerbsRegion register(MemorySegment memory, int flags, int flush, boolean remote)
      throws IOException {
    try {
      VerbsRegion region = register(memory, flags | flush, remote);
      if (flush != 0) {
        flushed.add(region);
        flushable.set(flushed.size());
      }
      return region;
    } catch (IOException e) {
      if (flush == 0) {
        throw e;
      }
      return register(memory, flags, remote);
    }
  }

  private VerbsRegion register(MemorySegment memory, int flags, boolean remote) throws IOException {
    VerbsRegion region =
        (flags & Offered.ACCESS_FLUSH_PERSISTENT) != 0
            ? byAddress(memory, flags, remote, null)
            : pinned(memory, flags, remote);
    regions.add(region);
    return region;
  }

  /**
   * Registers memory as pinned. If the kernel can't pin it, because it is a file on a disk or on
   * DAX, registers it for on-demand paging.
   */
  private VerbsRegion pinned(MemorySegment memory, int flags, boolean remote) throws IOException {
    generation = generation + 1 & VerbsRegion.GENERATIONS - 1;
    generation = Math.max(generation, 1);
    long place = VerbsRegion.place(generation, memory.address());
    try {
      IbvMr mr = mr(memory.address(), memory.byteSize(), VerbsRegion.iova(place), flags);
      return new VerbsRegion(device, memory, remote, mr, place, null);
    } catch (VerbsException e) {
      requireUnpinnable(e);
      return byAddress(memory, flags, remote, e);
    }
  }

  /**
   * Registers memory under a separate address. For memory that is paged on demand soft RDMA uses
   * the number in a request as an address, and fails in the kernel when it is no address.
   *
   * @param unpinned why the kernel did not pin it; null when that was not tried
   */
  private VerbsRegion byAddress(
      MemorySegment memory, int flags, boolean remote, VerbsException unpinned) throws IOException {
    Alias alias = Alias.of(memory);
    try {
      IbvMr mr = unpinned == null ? tryPinned(alias, flags) : onDemand(alias, flags, unpinned);
      boolean persistent = (flags & Offered.ACCESS_FLUSH_PERSISTENT) != 0;
      long place = VerbsRegion.place(persistent, alias.address());
      return new VerbsRegion(device, memory, remote, mr, place, alias);
    } catch (IOException | RuntimeException | Error e) {
      alias.close();
      throw e;
    }
  }

  private IbvMr tryPinned(Alias alias, int flags) throws IOException {
    try {
      return mr(alias.address(), alias.bytes(), alias.address(), flags);
    } catch (VerbsException e) {
      requireUnpinnable(e);
      return onDemand(alias, flags, e);
    }
  }

  private IbvMr onDemand(Alias alias, int flags, VerbsException unpinned) throws IOException {
    if (device.hca().soft() && !Boolean.getBoolean(SOFT_TOO)) {
      throw new IOException(
          unpinned.getMessage()
              + "; the kernel pins no memory of files here, and soft RDMA pages none on demand that"
              + " could be trusted: its READs and WRITEs leave out where in a page they begin"
              + INSTEAD,
          unpinned);
    }
    try {
      int onDemandToo = flags | IbvMr.IBV_ACCESS_ON_DEMAND;
      IbvMr mr = mr(alias.address(), alias.bytes(), alias.address(), onDemandToo);
      onDemand.incrementAndGet();
      return mr;
    } catch (VerbsException e) {
      throw new IOException(
          unpinned.getMessage()
              + "; the kernel pins no memory of files here, and on demand: "
              + e.getMessage()
              + INSTEAD,
          unpinned);
    }
  }

  private static void requireUnpinnable(VerbsException e) throws VerbsException {
    if (e.errno() != EFAULT && e.errno() != EOPNOTSUPP) {
      throw e;
    }
  }

  private IbvMr mr(long address, long bytes, long iova, int flags) throws IOException {
    return device.verbs().regMr(device.hca().pd(), address, bytes, iova, flags);
  }

  /** Whether the hardware may still access a region. */
  boolean isRegistered(VerbsRegion region) {
    return regions.contains(region);
  }

  void end(VerbsRegion region) throws IOException {
    if (regions.contains(region)) {
      region.end();
      regions.remove(region);
      flushed.remove(region);
      flushable.set(flushed.size());
    }
  }

  List<VerbsRegion> all() {
    return List.copyOf(regions);
  }
}
