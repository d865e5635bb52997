package io.erda.server.engine.service;

import io.erda.protocol.Protocol;

/**
 * What one client, and one user other than the server's own with all of his clients, may have of a
 * server.
 *
 * @param connectionsPerUser clients at a time
 * @param leasedBytesPerClient bytes of the log in extents that are open; what the log leases at
 *     most without being short of space is a limit too, which gives way where it must
 * @param leasedBytesPerUser the same; 0: half of the log
 * @param operationsPerClient requests that have come and are not answered
 * @param operationsPerUser the same
 */
public record Limits(
    int connectionsPerUser,
    long leasedBytesPerClient,
    long leasedBytesPerUser,
    int operationsPerClient,
    int operationsPerUser) {

  /** Half of all connections, half of the log, and what a connection holds. */
  public static Limits of(int connectionsMax) {
    return new Limits(
        Math.max(1, connectionsMax / 2),
        Long.MAX_VALUE,
        0,
        Protocol.REQUESTS_MAX,
        Integer.MAX_VALUE);
  }
}
