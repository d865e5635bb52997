package io.erda.server.engine.service;

import io.erda.protocol.Message;

/**
 * Refuses requests of clients or users that have too many requests under way. A client respects the
 * limit of a client, which is in the welcome; it can't know how much of its user's limit is used.
 * One thread.
 */
final class OperationLimits {
  private final int perClient;
  private final SpaceRefusals refusals;

  OperationLimits(Limits limits, SpaceRefusals refusals) {
    this.perClient = limits.operationsPerClient();
    this.refusals = refusals;
  }

  /**
   * Refuses and answers a request that has begun, if it exceeds a limit. Returns whether it did.
   */
  boolean refuse(Connection connection, int slot, int type) {
    UserShare user = connection.share;
    boolean own = connection.underWay() > perClient;
    if ((!own && user.operations <= user.operationsMax) || !isLimited(type)) {
      return false;
    }
    String why =
        "the server takes at most %d operations under way of %s"
            .formatted(
                own ? perClient : user.operationsMax, own ? "a client" : "the clients of one user");
    refusals.addOverQuota(connection, slot, type, -1, 0, why);
    return true;
  }

  /**
   * Whether requests of a type count towards the limits. Other requests cost little, or report that
   * a client has finished something or left a region.
   */
  private static boolean isLimited(int type) {
    return type == Message.PUBLISH
        || type == Message.ANNOUNCE
        || type == Message.ERASE
        || type == Message.LEASE;
  }
}
