package io.erda.server.engine;

/** Counts what was refused for want of space, records it and tells it. One thread. */
final class SpaceRefusals {
  private final ToldService told;
  private long count;

  SpaceRefusals(ToldService told) {
    this.told = told;
  }

  long count() {
    return count;
  }

  /**
   * A client's request is refused.
   *
   * @param full what is full: LOG, TABLE or DISK
   */
  void add(String full, Connection connection, int head, long bytes) {
    count++;
    told.listener().full(full, connection.clientId, bytes);
    record(full, connection.clientId, head, bytes);
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
