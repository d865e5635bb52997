package io.erda.server.engine.events;

/**
 * Receives the events of a service, for logs. The server's thread calls it. It must not block, and
 * must not throw.
 */
public interface ServiceListener {
  /** Ignores everything. */
  ServiceListener NONE = new ServiceListener() {};

  /**
   * A client connected.
   *
   * @param peer its description: {@link io.erda.rdma.ConnectionRequest#peer}
   */
  default void connected(int clientId, String peer) {}

  /**
   * A client's connection was closed.
   *
   * @param misbehaved whether the server ended the connection because the client violated the
   *     protocol
   */
  default void left(int clientId, String peer, boolean misbehaved) {}

  /** A client was refused; {@code why} is the reason. */
  default void refused(String peer, String why) {}

  /**
   * A client's request was refused for want of space.
   *
   * @param what LOG, TABLE, BUCKET (of the table) or DISK; FILE when a file may not be as large as
   *     a region
   */
  default void full(String what, int clientId, long bytes) {}

  /**
   * No file can be made for the log's next region. Called once until {@link #fileAgain}.
   *
   * @param why the file, the call and the error
   */
  default void noFile(String why) {}

  /** A file for the log's next region could be made again. */
  default void fileAgain() {}

  /** A client's request was refused because the client, or its user, has reached a quota. */
  default void overQuota(String why, int clientId, String peer) {}

  /**
   * A file that is no longer needed could not be removed.
   *
   * @param what the file, and the reason
   */
  default void leftBehind(String what) {}

  /**
   * Work on which nothing depends was left undone.
   *
   * @param what the work, and the reason
   */
  default void undone(String what) {}

  /**
   * A cleaning ended.
   *
   * @param freed false when the region is kept
   */
  default void cleaned(
      int head, int region, boolean freed, long bytesLive, long bytesCopied, long tookNs) {}

  /**
   * The table was doubled.
   *
   * @param entries number of entries; −1 when they are not counted yet
   * @param tookNs duration in nanoseconds; −1 when the doubling began before the store was opened
   */
  default void doubled(long fromBuckets, long toBuckets, long entries, long tookNs) {}

  /** The table was halved; the parameters are those of {@link #doubled}. */
  default void halved(long fromBuckets, long toBuckets, long entries, long tookNs) {}

  /**
   * A halving found too many keys in one bucket, and turns around: the table goes back to {@code
   * toBuckets}.
   */
  default void turned(long fromBuckets, long toBuckets) {}
}
