package io.erda.server.engine.service;

import io.erda.logstore.FileSupply;
import io.erda.logstore.Region;
import io.erda.pmem.PersistentMemory;
import io.erda.server.engine.events.ClientWaitedForEvent;
import io.erda.server.engine.events.Events;
import io.erda.server.engine.events.RegionReleasedEvent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.ObjLongConsumer;

/**
 * Retired regions, and the clients that may not know of the retirement yet. The regions' keys are
 * revoked, so a client rejects bytes that it READs there, and its WRITEs there do not matter. But a
 * client on this host may still map the file, and may have been stopped in the middle of a store,
 * which can't be revoked.
 *
 * <p>The file becomes unreachable when every client that knew the region has reported that it left
 * the region, or is gone, and no stranger may be in the middle of a WRITE. Then the file may be
 * reused for another region. When that takes too long, or more than a few regions wait, the file is
 * removed and its space given back; a late store then lands in pages that are never read. Safety
 * depends on no clock (rule 10). One thread.
 */
final class Departures implements AutoCloseable {
  private static final int WAITING_MAX = 2;

  /** The most clients that are shown for each region. */
  private static final int CLIENTS_SHOWN_MAX = 16;

  /**
   * A client that was connected when a region was retired.
   *
   * @param processId as the client sent it
   */
  record Client(int id, long processId) {}

  private record Departure(
      Region region, long epoch, long untilNs, List<Client> clients, RegionReleasedEvent released) {
    boolean allLeft() {
      return clients.isEmpty();
    }
  }

  private final ArrayDeque<Departure> waiting = new ArrayDeque<>();
  private final FileSupply supply;
  private final IntSupplier strangers;
  private final Consumer<PersistentMemory> release;
  private long timedOut;
  private long regionsReleased;
  private long reused;

  /**
   * @param strangers returns the number of strangers of all devices, see {@link
   *     io.erda.rdma.Device#strangers}
   * @param release gives back and closes memory whose file is removed
   */
  Departures(FileSupply supply, IntSupplier strangers, Consumer<PersistentMemory> release) {
    this.supply = supply;
    this.strangers = strangers;
    this.release = release;
  }

  /**
   * @param epoch the epoch of the first map without the region
   * @param clients the clients that were connected at that time and had been sent a map with the
   *     region
   */
  void add(Region region, long epoch, long untilNs, List<Client> clients) {
    assert waiting.isEmpty() || waiting.peekLast().epoch < epoch
        : "the map of epoch " + epoch + " comes behind that of " + waiting.peekLast().epoch;
    RegionReleasedEvent released = Events.begin(RegionReleasedEvent::new);
    waiting.add(new Departure(region, epoch, untilNs, new ArrayList<>(clients), released));
  }

  /** Notes that a client uses only regions that the map of this epoch names. */
  void left(int client, long epoch) {
    for (Departure each : waiting) {
      if (each.epoch <= epoch) {
        each.clients.removeIf(other -> other.id == client);
      }
    }
  }

  /**
   * Notes that a client's connection has ended. If its stores can't be revoked, the client now
   * counts as a stranger.
   */
  void gone(int client) {
    left(client, Long.MAX_VALUE);
  }

  /** Releases regions that no client reaches any more, and those that have waited too long. */
  void doWork(long nowNs) {
    if (waiting.isEmpty()) {
      return;
    }
    boolean unknown = strangers.getAsInt() > 0;
    for (Iterator<Departure> each = waiting.iterator(); each.hasNext(); ) {
      Departure departure = each.next();
      boolean left = departure.allLeft() && !unknown;
      if (left || nowNs - departure.untilNs >= 0) {
        each.remove();
        timedOut += left ? 0 : 1;
        letGo(departure, left);
      }
    }
    while (waiting.size() > WAITING_MAX) {
      timedOut++;
      letGo(waiting.poll(), false);
    }
  }

  private void letGo(Departure departure, boolean left) {
    if (left && supply.reuse(departure.region)) {
      reused++;
    } else {
      supply.remove(departure.region);
      release.accept(departure.region.memory());
    }
    regionsReleased++;
    record(departure);
  }

  private static void record(Departure departure) {
    RegionReleasedEvent released = departure.released;
    if (Events.wanted(released)) {
      released.head = departure.region.head();
      released.region = departure.region.index();
      released.generation = departure.region.generation();
      released.clientsLate = departure.clients.size();
      released.commit();
    }
    for (Client client : departure.clients) {
      ClientWaitedForEvent late = Events.begin(ClientWaitedForEvent::new);
      if (Events.wanted(late)) {
        late.clientId = client.id;
        late.clientPid = client.processId;
        late.head = departure.region.head();
        late.region = departure.region.index();
        late.generation = departure.region.generation();
        late.commit();
      }
    }
  }

  /** Number of regions that wait. */
  int waiting() {
    return waiting.size();
  }

  /**
   * Number of regions whose wait has ended: their space was given back, or their file is used
   * again.
   */
  long regionsReleased() {
    return regionsReleased;
  }

  /** A client that the oldest region waits for; 0 when it waits for no known client. */
  int waitingFor() {
    List<Client> clients = waiting.isEmpty() ? List.of() : waiting.peek().clients;
    return clients.isEmpty() ? 0 : clients.getFirst().id;
  }

  /**
   * Passes on the clients for which a region waits: {@code
   * leaving.HEAD.INDEX.GENERATION.client.ID.pid}, the region's head, index and generation and the
   * client's ID, with the client's process ID.
   */
  void describe(ObjLongConsumer<String> to) {
    for (Departure each : waiting) {
      Region region = each.region;
      for (Client client :
          each.clients.subList(0, Math.min(each.clients.size(), CLIENTS_SHOWN_MAX))) {
        to.accept(
            "leaving."
                + region.head()
                + "."
                + region.index()
                + "."
                + region.generation()
                + ".client."
                + client.id
                + ".pid",
            client.processId);
      }
    }
  }

  /** Number of regions whose space was taken back before all clients left. */
  long timedOut() {
    return timedOut;
  }

  /** Number of regions whose file was reused for another one. */
  long reused() {
    return reused;
  }

  @Override
  public void close() {
    while (!waiting.isEmpty()) {
      letGo(waiting.poll(), false);
    }
  }
}
