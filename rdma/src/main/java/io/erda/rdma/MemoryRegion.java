package io.erda.rdma;

import java.lang.foreign.MemorySegment;

/**
 * Registered memory. Deregistered by {@link Device#deregister}; the memory itself belongs to the
 * caller that registered it.
 */
public interface MemoryRegion {
  /** The memory, as registered. */
  MemorySegment memory();

  /**
   * The key by which a peer names the region in a READ or WRITE; 0 when the region is for local use
   * only. A device directory or listener gives no two regions the same key.
   */
  long remoteKey();
}
