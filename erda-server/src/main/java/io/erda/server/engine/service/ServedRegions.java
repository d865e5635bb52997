package io.erda.server.engine.service;

import io.erda.logstore.LinkListener;
import io.erda.logstore.Region;
import io.erda.server.engine.events.Events;
import io.erda.server.engine.events.RegionLinkedEvent;
import io.erda.server.engine.events.RegionRetiredEvent;
import io.erda.server.engine.store.StoreEngine;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Makes regions reachable for clients when they are linked, and unreachable when they are retired.
 * One thread.
 */
final class ServedRegions implements LinkListener {
  private final StoreEngine engine;
  private final Ports ports;
  private final Connections connections;
  private final Departures departures;
  private final LongSupplier nanoTime;
  private final long leavingNs;

  /**
   * By slot: the first epoch whose map named the region there; 0 when an earlier server linked it.
   */
  private final long[] linkedAt;

  /**
   * @param leavingNs how long clients have to leave a retired region
   */
  ServedRegions(
      StoreEngine engine,
      Ports ports,
      Connections connections,
      Departures departures,
      LongSupplier nanoTime,
      long leavingNs) {
    this.engine = engine;
    this.ports = ports;
    this.connections = connections;
    this.departures = departures;
    this.nanoTime = nanoTime;
    this.leavingNs = leavingNs;
    this.linkedAt = new long[engine.log().geometry().slots()];
  }

  @Override
  public void linked(Region region) {
    ports.register(region);
    engine.root().nextEpoch();
    linkedAt[region.slot()] = engine.root().epoch();
    RegionLinkedEvent event = Events.begin(RegionLinkedEvent::new);
    if (Events.wanted(event)) {
      event.head = region.head();
      event.region = region.index();
      event.generation = region.generation();
      event.freeRegions = engine.log().linked().freeRegions();
      event.commit();
    }
  }

  /**
   * The map is updated before the key is revoked, so that a client whose READ fails finds a newer
   * map.
   */
  @Override
  public void retired(Region region) {
    engine.root().nextEpoch();
    ports.deregister(region);
    recordRetired(region);
    // A client that was never sent a map with the region has never accessed the region.
    List<Departures.Client> clients =
        connections.all().stream()
            .filter(each -> each.mapEpoch >= linkedAt[region.slot()])
            .map(each -> new Departures.Client(each.clientId, each.processId))
            .toList();
    departures.add(region, engine.root().epoch(), nanoTime.getAsLong() + leavingNs, clients);
  }

  private void recordRetired(Region region) {
    RegionRetiredEvent event = Events.begin(RegionRetiredEvent::new);
    if (Events.wanted(event)) {
      event.head = region.head();
      event.region = region.index();
      event.generation = region.generation();
      event.epoch = engine.root().epoch();
      event.commit();
    }
  }
}
