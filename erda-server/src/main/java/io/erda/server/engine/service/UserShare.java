package io.erda.server.engine.service;

/**
 * What one user has of a server with all of his clients, and what he may have. The counts are kept
 * by whoever gives and takes it: a connection, and its reservations. One thread.
 */
final class UserShare {
  /** As the kernel names him; null for the server's own user, who has no limits. */
  final String user;

  final long leasedBytesMax;
  final int operationsMax;

  /** Clients that are connected. */
  int connections;

  /** Bytes in open extents. */
  long leasedBytes;

  /** Requests that have come and are not answered. */
  int operations;

  /**
   * @param leasedBytesMax and {@code operationsMax} do not count where {@code user} is null
   */
  UserShare(String user, long leasedBytesMax, int operationsMax) {
    this.user = user;
    this.leasedBytesMax = user == null ? Long.MAX_VALUE : leasedBytesMax;
    this.operationsMax = user == null ? Integer.MAX_VALUE : operationsMax;
  }
}
