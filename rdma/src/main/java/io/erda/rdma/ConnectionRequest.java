package io.erda.rdma;

import java.lang.foreign.MemorySegment;

/** A peer that wants to connect. Answered once: by {@link #accept} or {@link #reject}. */
public interface ConnectionRequest {
  /**
   * What the peer sent along, at most {@link Device#PRIVATE_DATA_MAX} bytes; valid until answered.
   * Bytes from outside: not trusted.
   */
  MemorySegment privateData();

  /** Who asks, for messages: a process ID or an address. */
  String peer();

  /**
   * Which user asks, as the kernel says and not the peer; null when it is the user whom the
   * listener runs as.
   */
  default String user() {
    return null;
  }

  /**
   * Which version of the device's own bytes the peer has and which one this end has, in words; null
   * when they are the same. A peer of another version can only be rejected.
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
