package io.erda.server.engine.service;

import java.util.HashMap;
import java.util.Map;

/** The shares of the users who have clients. One thread. */
final class UserShares {
  private final Limits limits;
  private final long leasedBytesMax;
  private final Map<String, UserShare> shares = new HashMap<>();

  /**
   * @param logBytes the length up to which the log may grow
   */
  UserShares(Limits limits, long logBytes) {
    this.limits = limits;
    this.leasedBytesMax =
        limits.leasedBytesPerUser() == 0 ? logBytes / 2 : limits.leasedBytesPerUser();
  }

  /** Whether a user has reached the limit of connections; false for the server's own user, null. */
  boolean hasAllConnections(String user) {
    UserShare share = shares.get(user);
    return user != null && share != null && share.connections >= limits.connectionsPerUser();
  }

  /** Notes a new client of the user. */
  UserShare enter(String user) {
    UserShare share =
        shares.computeIfAbsent(
            user, name -> new UserShare(name, leasedBytesMax, limits.operationsPerUser()));
    share.connections++;
    return share;
  }

  /** Notes that a client of the user has left; a share without clients is dropped. */
  void leave(UserShare share) {
    share.connections--;
    if (share.connections == 0) {
      assert share.leasedBytes == 0 && share.operations == 0
          : "user %s without a client has %d bytes, %d operations"
              .formatted(share.user, share.leasedBytes, share.operations);
      shares.remove(share.user);
    }
  }
}
