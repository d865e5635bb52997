package io.erda.server.engine;

import io.erda.logstore.Extent;

/** An open extent of one client. */
final class Reservation {
  final long id;
  final Extent extent;

  /** The remote key that its client WRITEs with. */
  final long key;

  /** Where the next object may begin: places are published in rising order, and once. */
  long nextPlace;

  long lastUsedNs;

  Reservation(long id, Extent extent, long key, long nowNs) {
    this.id = id;
    this.extent = extent;
    this.key = key;
    this.nextPlace = extent.place();
    this.lastUsedNs = nowNs;
  }
}
