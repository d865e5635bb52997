package io.erda.server.engine.service;

/**
 * The resources of all clients of one user, and the user's limits. Connections and their
 * reservations maintain the counts. One thread.
 */
final class UserShare {
  /** The user's name as the kernel gives it; null for the server's own user, who has no limits. */
  final String user;

  final long leasedBytesMax;
  final int operationsMax;

  /** Number of connected clients. */
  int connections;

  /** Bytes in open extents. */
  long leasedBytes;

  /** Number of requests that have come and are not answered. */
  int operations;

  /**
   * @param leasedBytesMax and {@code operationsMax} are ignored when {@code user} is null
   */
  UserShare(String user, long leasedBytesMax, int operationsMax) {
    this.user = user;
    this.leasedBytesMax = user == null ? Long.MAX_VALUE : leasedBytesMax;
    this.operationsMax = user == null ? Integer.MAX_VALUE : operationsMax;
  }
}
