package io.erda.server.engine.service;

import io.erda.protocol.Message;

/**
 * Refuses requests of those who have as many under way as they may. A client keeps to its own
 * limit, which the welcome tells; that of its user it can't know. One thread.
 */
final class OperationLimits {
  private final int perClient;
  private final SpaceRefusals refusals;

  OperationLimits(Limits limits, SpaceRefusals refusals) {
    this.perClient = limits.operationsPerClient();
    this.refusals = refusals;
  }

  /** Returns whether a request that has begun is refused, and answered with that. */
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
   * Whether requests of a type count towards the limits. The others cost little, or tell what a
   * client has done or left.
   */
  private static boolean isLimited(int type) {
    return type == Message.PUBLISH
        || type == Message.ANNOUNCE
        || type == Message.ERASE
        || type == Message.LEASE;
  }
}
