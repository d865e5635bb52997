package io.erda.server.engine.service;

import io.erda.protocol.Protocol;

/**
 * The limits of one client, and of all clients of one user other than the server's own.
 *
 * @param connectionsPerUser clients at a time
 * @param leasedBytesPerClient bytes of the log in one client's open extents; the log bounds the
 *     open extents of all clients too, but exceeds that bound for a client that needs one object
 * @param leasedBytesPerUser the same for a user; 0: half of the log
 * @param operationsPerClient requests that have come and are not answered
 * @param operationsPerUser the same for a user
 */
public record Limits(
    int connectionsPerUser,
    long leasedBytesPerClient,
    long leasedBytesPerUser,
    int operationsPerClient,
    int operationsPerUser) {

  /**
   * The default limits: half of all connections, half of the log, and as many requests as a
   * connection holds.
   */
  public static Limits of(int connectionsMax) {
    return new Limits(
        Math.max(1, connectionsMax / 2),
        Long.MAX_VALUE,
        0,
        Protocol.REQUESTS_MAX,
        Integer.MAX_VALUE);
  }
}
