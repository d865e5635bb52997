package io.erda.rdma;

import java.lang.foreign.MemorySegment;

/** A peer that wants to connect. Answered once: by {@link #accept} or {@link #reject}. */
public interface ConnectionRequest {
  /**
   * The peer's private data, at most {@link Device#PRIVATE_DATA_MAX} bytes; valid until answered.
   * Not trusted.
   */
  MemorySegment privateData();

  /** The peer in words, for messages: a process ID or an address. */
  String peer();

  /**
   * The user of the peer, from the kernel and not from the peer; null when the listener runs as the
   * same user.
   */
  default String user() {
    return null;
  }

  /**
   * The versions of the device's own bytes that the peer and this end have, in words; null when
   * they are the same. A peer of another version can only be rejected.
   */
  default String otherVersion() {
    return null;
  }

  /**
   * Connects; the peer gets {@code privateData} in {@link QueuePair#privateData()}. Post receives
   * before the peer's first SEND can arrive.
   */
  QueuePair accept(MemorySegment privateData);

  /** Refuses; the peer gets {@code privateData}. */
  void reject(MemorySegment privateData);
}
