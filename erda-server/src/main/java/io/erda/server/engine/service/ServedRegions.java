package io.erda.server.engine.service;

import io.erda.logstore.LinkListener;
import io.erda.logstore.LogStore;
import io.erda.logstore.Region;
import io.erda.server.engine.events.Events;
import io.erda.server.engine.events.RegionLinkedEvent;
import io.erda.server.engine.events.RegionRetiredEvent;
import io.erda.server.engine.files.RootFile;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Makes regions reachable for clients when they are linked, and unreachable when they are retired.
 * One thread.
 */
final class ServedRegions implements LinkListener {
  private final LogStore log;
  private final RootFile root;
  private final Ports ports;
  private final ClientConnections connections;
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
      LogStore log,
      RootFile root,
      Ports ports,
      ClientConnections connections,
      Departures departures,
      LongSupplier nanoTime,
      long leavingNs) {
    this.log = log;
    this.root = root;
    this.ports = ports;
    this.connections = connections;
    this.departures = departures;
    this.nanoTime = nanoTime;
    this.leavingNs = leavingNs;
    this.linkedAt = new long[log.geometry().slots()];
  }

  @Override
  public void linked(Region region) {
    ports.register(region);
    root.nextEpoch();
    linkedAt[region.slot()] = root.epoch();
    RegionLinkedEvent event = Events.begin(RegionLinkedEvent::new);
    if (Events.wanted(event)) {
      event.head = region.head();
      event.region = region.index();
      event.generation = region.generation();
      event.freeRegions = log.linked().freeRegions();
      event.commit();
    }
  }

  /**
   * The map is updated before the key is revoked, so that a client whose READ fails finds a newer
   * map.
   */
  @Override
  public void retired(Region region) {
    root.nextEpoch();
    ports.deregister(region);
    recordRetired(region);
    // A client that was never sent a map with the region has never accessed the region.
    List<Departures.Client> clients =
        connections.all().stream()
            .filter(each -> each.mapEpoch >= linkedAt[region.slot()])
            .map(each -> new Departures.Client(each.clientId, each.processId))
            .toList();
    departures.add(region, root.epoch(), nanoTime.getAsLong() + leavingNs, clients);
  }

  private void recordRetired(Region region) {
    RegionRetiredEvent event = Events.begin(RegionRetiredEvent::new);
    if (Events.wanted(event)) {
      event.head = region.head();
      event.region = region.index();
      event.generation = region.generation();
      event.epoch = root.epoch();
      event.commit();
    }
  }
}
