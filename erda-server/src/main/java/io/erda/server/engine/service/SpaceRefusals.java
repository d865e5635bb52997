package io.erda.server.engine.service;

import io.erda.protocol.Result;
import io.erda.server.engine.events.Events;
import io.erda.server.engine.events.ServiceListener;
import io.erda.server.engine.events.SpaceExhaustedEvent;

/**
 * Counts, records and reports two kinds of refused requests: those for which there was no space,
 * and those that a quota of their client or user forbids. One thread.
 */
final class SpaceRefusals {
  private final ServiceListener told;
  private long count;
  private long overQuota;

  SpaceRefusals(ServiceListener told) {
    this.told = told;
  }

  long count() {
    return count;
  }

  /**
   * Notes that a client's request is refused for lack of space.
   *
   * @param full the full resource: LOG, TABLE, BUCKET (of the table) or DISK; FILE when a file may
   *     not be as large as a region
   */
  void add(String full, Connection connection, int head, long bytes) {
    count++;
    told.full(full, connection.clientId, bytes);
    record(full, connection.clientId, head, bytes);
  }

  /** Number of requests that were refused because of the quota of their client or user. */
  long overQuota() {
    return overQuota;
  }

  /**
   * Notes and answers that a client's request is refused because the client or its user has reached
   * a quota.
   *
   * @param head −1 when the request is not for space; then {@code bytes} is 0
   * @param why the reason, in words
   */
  void addOverQuota(Connection connection, int slot, int type, int head, long bytes, String why) {
    overQuota++;
    told.overQuota(why, connection.clientId, connection.queuePair.peer());
    record("QUOTA", connection.clientId, head, bytes);
    connection.refuse(slot, type, Result.OVER_QUOTA, why);
  }

  static void record(String full, int clientId, int head, long bytes) {
    SpaceExhaustedEvent event = Events.begin(SpaceExhaustedEvent::new);
    if (Events.wanted(event)) {
      event.what = full;
      event.clientId = clientId;
      event.head = head;
      event.bytes = bytes;
      event.commit();
    }
  }
}
