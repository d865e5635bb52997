package io.erda.rdma.rings;

import io.erda.pmem.Backing;
import io.erda.rdma.Access;
import io.erda.rdma.Device;
import io.erda.rdma.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** A registration of a device of this module. */
public final class LocalRegion implements MemoryRegion {
  private final Device owner;
  public final MemorySegment memory;

  /** The file that the memory is mapped from, if any. */
  public final Backing backing;

  /** Where the memory begins. */
  public final long address;

  public final int access;
  private final long remoteKey;
  private final long size;

  public LocalRegion(
      Device owner, MemorySegment memory, Backing backing, int access, long remoteKey) {
    this.backing = backing;
    this.owner = owner;
    this.memory = memory;
    this.address = memory.address();
    this.access = access;
    this.remoteKey = remoteKey;
    this.size = memory.byteSize();
  }

  /** Checks a region and a range that a caller passed. */
  static LocalRegion of(MemoryRegion region, Device device, long offset, int length) {
    if (!(region instanceof LocalRegion local) || local.owner != device) {
      throw new IllegalArgumentException("local memory is not registered with this device");
    }
    if ((offset | length) < 0 || length > local.size - offset) {
      throw new IndexOutOfBoundsException(
          "local [" + offset + ", +" + length + ") of " + local.size + " bytes");
    }
    return local;
  }

  /**
   * Called before the memory is used by address, because its owner may have violated the contract
   * and closed it.
   */
  void requireAlive() {
    if (!memory.scope().isAlive()) {
      throw new IllegalStateException("registered memory was closed before it was deregistered");
    }
  }

  @Override
  public MemorySegment memory() {
    return memory;
  }

  @Override
  public long remoteKey() {
    return remoteKey;
  }

  /** Whether peers may use a region with this access. */
  public static boolean isRemote(int access) {
    return (access & (Access.REMOTE_READ | Access.REMOTE_WRITE | Access.REMOTE_ATOMIC)) != 0;
  }

  public static void check(MemorySegment memory, int access) {
    Objects.requireNonNull(memory, "memory");
    if ((access & ~(Access.REMOTE_READ | Access.REMOTE_WRITE | Access.REMOTE_ATOMIC)) != 0) {
      throw new IllegalArgumentException("access " + access);
    }
  }
}
