package io.erda.client.connections;

import io.erda.pmem.Backing;
import io.erda.rdma.Access;
import io.erda.rdma.Device;
import io.erda.rdma.MemoryRegion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory that belongs to a client, and that its device may read and store to.
 *
 * <p>The garbage collector frees the memory. Memory that can be closed would be slower: a checksum
 * over it costs two locked instructions, each of which waits for the cache misses of the copy that
 * is checked. Code that uses the memory by its address must keep this object reachable.
 */
public final class RegisteredMemory {
  private static final int CACHE_LINE = 64;

  public final MemorySegment segment;
  public final MemoryRegion region;
  private final Device device;

  public RegisteredMemory(Device device, long bytes) {
    this.device = device;
    this.segment = Arena.ofAuto().allocate(bytes, CACHE_LINE);
    this.region = device.register(segment, Backing.none(bytes), Access.LOCAL);
  }

  /** REQUIRES: the queue pair is closed, or no work that names the memory is outstanding. */
  public void release() {
    device.deregister(region);
  }
}
