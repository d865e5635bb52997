package io.erda.server.engine.service;

import java.util.ArrayList;
import java.util.List;

/**
 * Requests for space that wait for cleaning, or for the file of another region, in the order in
 * which they came. One thread.
 */
final class LeaseQueue {
  /**
   * A request; its message slot stays occupied.
   *
   * @param untilNs how long it waits for cleaning
   * @param failures number of failed files up to which the request may have another one made: those
   *     before it came, and the one that was being made then
   */
  record Waiting(
      Connection connection, int slot, int head, int bytesMin, long untilNs, long failures) {}

  private final List<Waiting> waiting = new ArrayList<>();

  void add(Waiting request) {
    waiting.add(request);
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  int size() {
    return waiting.size();
  }

  /** Removes and returns all waiting requests; they are tried again, and may be added again. */
  List<Waiting> takeAll() {
    List<Waiting> all = List.copyOf(waiting);
    waiting.clear();
    return all;
  }

  void gone(Connection connection) {
    waiting.removeIf(each -> each.connection == connection);
  }
}
