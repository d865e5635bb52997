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
 * @param size the length of the memory
 * @param access the uses that peers have without a grant
 * @param inner the region of the same memory with the device that executes the work; null at a
 *     client
 * @param persistent the memory as an object that can flush it; null when it can't be flushed
 */
record TcpRegion(
    Device owner,
    MemorySegment memory,
    long size,
    int access,
    MemoryRegion inner,
    PersistentMemory persistent)
    implements MemoryRegion {
  /** Checks a region and a range that a caller passed. */
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

  /** {@inheritDoc} It is 0 at a client, because peers can't access the memory of a client. */
  @Override
  public long remoteKey() {
    return inner == null ? 0 : inner.remoteKey();
  }

  boolean contains(long offset, int length) {
    return offset >= 0 && length >= 0 && length <= size - offset;
  }

  /** Flushes and drains the calling thread's stores. Returns a status. */
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
