package io.erda.rdma.tcp;

import io.erda.pmem.PersistentMemory;
import io.erda.rdma.Device;
import io.erda.rdma.MemoryRegion;
import io.erda.rdma.Status;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;

/**
 * A registration of a tcp device.
 *
 * @param owner the device
 * @param memory the bytes
 * @param size of the memory
 * @param access what peers may do without a grant
 * @param inner the same at the device that executes; null at a client
 * @param persistent what flushes it; null where nobody can
 */
record TcpRegion(
    Device owner,
    MemorySegment memory,
    long size,
    int access,
    MemoryRegion inner,
    PersistentMemory persistent)
    implements MemoryRegion {
  /** The region behind what a caller passed; a mistake of the caller's throws. */
  static TcpRegion of(MemoryRegion region, Device device, long offset, int length) {
    if (!(region instanceof TcpRegion ours) || ours.owner != device) {
      throw new IllegalArgumentException("local memory is not registered with this device");
    }
    if ((offset | length) < 0 || length > ours.size - offset) {
      throw new IndexOutOfBoundsException(
          "local [" + offset + ", +" + length + ") of " + ours.size + " bytes");
    }
    return ours;
  }

  /** 0 at a client, whose memory nobody reaches. */
  @Override
  public long remoteKey() {
    return inner == null ? 0 : inner.remoteKey();
  }

  boolean contains(long offset, int length) {
    return offset >= 0 && length >= 0 && length <= size - offset;
  }

  /** Flushes and drains what the calling thread stored. Returns a status. */
  int flush(long offset, int length) {
    if (persistent == null || !contains(offset, length)) {
      return Status.REMOTE_ACCESS;
    }
    try {
      persistent.flush(offset, length);
      persistent.drain();
      return Status.SUCCESS;
    } catch (UncheckedIOException | IllegalStateException e) {
      return Status.LOCAL;
    }
  }
}
