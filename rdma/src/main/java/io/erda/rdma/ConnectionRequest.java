package io.erda.rdma;

import java.lang.foreign.MemorySegment;

/**
 * A request of a peer to connect. It must be answered once, by {@link #accept} or {@link #reject}.
 */
public interface ConnectionRequest {
  /**
   * The peer's private data, at most {@link Device#PRIVATE_DATA_MAX} bytes; valid until the request
   * is answered. It comes from the peer and must be checked.
   */
  MemorySegment privateData();

  /** Returns a description of the peer for messages: a process ID or an address. */
  String peer();

  /**
   * Returns the user of the peer, as reported by the kernel and not by the peer; null when the
   * listener runs as the same user.
   */
  default String user() {
    return null;
  }

  /**
   * Returns in words the versions of the device's protocol that the peer and this end use; null
   * when both are the same. A peer of another version can only be rejected.
   */
  default String otherVersion() {
    return null;
  }

  /**
   * Accepts the connection. The peer gets {@code privateData} in {@link QueuePair#privateData()}.
   * Post receives before the first SEND of the peer can arrive.
   */
  QueuePair accept(MemorySegment privateData);

  /** Refuses the connection. The peer gets {@code privateData}. */
  void reject(MemorySegment privateData);
}
