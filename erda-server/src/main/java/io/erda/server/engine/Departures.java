package io.erda.server.engine;

import io.erda.logstore.Region;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.ObjLongConsumer;

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

  /** Shown of each region: more would say no more. */
  private static final int CLIENTS_SHOWN_MAX = 16;

  /**
   * A client that was connected when a region was retired.
   *
   * @param processId as it said itself
   */
  record Client(int id, long processId) {}

  private record Departure(
      Region region,
      long epoch,
      long untilNs,
      List<Client> clients,
      RegionReleasedEvent released) {}

  private final ArrayDeque<Departure> waiting = new ArrayDeque<>();
  private long timedOut;
  private long regionsReleased;

  /**
   * @param epoch of the first map without the region
   * @param clients that were connected then
   */
  void add(Region region, long epoch, long untilNs, List<Client> clients) {
    RegionReleasedEvent released = new RegionReleasedEvent();
    released.begin();
    waiting.add(new Departure(region, epoch, untilNs, new ArrayList<>(clients), released));
    while (waiting.size() > WAITING_MAX) {
      giveBack(waiting.poll());
    }
    releaseLeft();
  }

  /** A client uses nothing any more that the map of this epoch does not name. */
  void left(int client, long epoch) {
    for (Departure each : waiting) {
      if (each.epoch <= epoch) {
        each.clients.removeIf(other -> other.id == client);
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

  private void giveBack(Departure departure) {
    departure.region.memory().discard(0, departure.region.memory().segment().byteSize());
    departure.region.memory().close();
    regionsReleased++;
    record(departure);
  }

  private static void record(Departure departure) {
    RegionReleasedEvent released = departure.released;
    if (released.shouldCommit()) {
      released.head = departure.region.head();
      released.region = departure.region.index();
      released.generation = departure.region.generation();
      released.clientsLate = departure.clients.size();
      released.commit();
    }
    for (Client client : departure.clients) {
      ClientWaitedForEvent late = new ClientWaitedForEvent();
      if (late.shouldCommit()) {
        late.clientId = client.id;
        late.clientPid = client.processId;
        late.head = departure.region.head();
        late.region = departure.region.index();
        late.generation = departure.region.generation();
        late.commit();
      }
    }
  }

  /** Regions that wait. */
  int waiting() {
    return waiting.size();
  }

  /** Regions whose space was given back. */
  long regionsReleased() {
    return regionsReleased;
  }

  /** A client that the oldest of them waits for; 0 when none waits. */
  int waitingFor() {
    return waiting.isEmpty() ? 0 : waiting.peek().clients.getFirst().id;
  }

  /**
   * Who is waited for: name {@code leaving.HEAD.INDEX.GENERATION.client.ID.pid}, the region's head,
   * index and generation and the client's ID, with the client's process ID.
   */
  void describe(ObjLongConsumer<String> to) {
    for (Departure each : waiting) {
      Region region = each.region;
      for (Client client :
          each.clients.subList(0, Math.min(each.clients.size(), CLIENTS_SHOWN_MAX))) {
        to.accept(
            "leaving.%d.%d.%d.client.%d.pid"
                .formatted(region.head(), region.index(), region.generation(), client.id),
            client.processId);
      }
    }
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
