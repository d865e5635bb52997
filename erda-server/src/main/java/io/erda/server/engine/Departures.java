package io.erda.server.engine;

import io.erda.logstore.Region;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Regions that are nobody's any more, and the clients that may not have heard of it. Their names
 * are gone and their keys revoked, so what a client reads there it does not accept, and what it
 * writes there is nobody's; but a client on this host may still map the file and keep its space.
 *
 * <p>The space is given back when every client that was there has said that it left, or is gone;
 * when it took too long; or when more than a few regions wait. Safety depends on none of it (rule
 * 10). Owns the memories. One thread.
 */
final class Departures implements AutoCloseable {
  private static final int WAITING_MAX = 2;

  private record Departure(Region region, long epoch, long untilNs, List<Integer> clients) {}

  private final ArrayDeque<Departure> waiting = new ArrayDeque<>();
  private long timedOut;

  /**
   * @param epoch of the first map without the region
   * @param clients that were connected then
   */
  void add(Region region, long epoch, long untilNs, List<Integer> clients) {
    waiting.add(new Departure(region, epoch, untilNs, new ArrayList<>(clients)));
    while (waiting.size() > WAITING_MAX) {
      giveBack(waiting.poll());
    }
    releaseLeft();
  }

  /** A client uses nothing any more that the map of this epoch does not name. */
  void left(int client, long epoch) {
    for (Departure each : waiting) {
      if (each.epoch <= epoch) {
        each.clients.removeIf(other -> other == client);
      }
    }
    releaseLeft();
  }

  /** A client's connection has ended. */
  void gone(int client) {
    left(client, Long.MAX_VALUE);
  }

  void doWork(long nowNs) {
    while (!waiting.isEmpty() && nowNs - waiting.peek().untilNs >= 0) {
      timedOut++;
      giveBack(waiting.poll());
    }
  }

  private void releaseLeft() {
    for (Iterator<Departure> each = waiting.iterator(); each.hasNext(); ) {
      Departure departure = each.next();
      if (departure.clients.isEmpty()) {
        each.remove();
        giveBack(departure);
      }
    }
  }

  private static void giveBack(Departure departure) {
    departure.region.memory().discard(0, departure.region.memory().segment().byteSize());
    departure.region.memory().close();
  }

  /** Regions that wait. */
  int waiting() {
    return waiting.size();
  }

  /** A client that the oldest of them waits for; 0 when none waits. */
  int waitingFor() {
    return waiting.isEmpty() ? 0 : waiting.peek().clients.getFirst();
  }

  /** Regions whose space was taken back from clients that did not leave in time. */
  long timedOut() {
    return timedOut;
  }

  @Override
  public void close() {
    while (!waiting.isEmpty()) {
      giveBack(waiting.poll());
    }
  }
}
