package io.erda.server.engine.service;

import io.erda.protocol.Message;

/**
 * Refuses requests of clients that have too many under way. A client respects its own limit, which
 * the welcome tells; it can't know that of its user. One thread.
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
   * Whether requests of a type count towards the limits. The others cost little, or report what a
   * client has done or left.
   */
  private static boolean isLimited(int type) {
    return type == Message.PUBLISH
        || type == Message.ANNOUNCE
        || type == Message.ERASE
        || type == Message.LEASE;
  }
}
