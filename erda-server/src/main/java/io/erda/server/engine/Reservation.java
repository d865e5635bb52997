package io.erda.server.engine;

import io.erda.logstore.Extent;

/** An open extent of one client. */
final class Reservation {
  final long id;
  final Extent extent;
  long lastUsedNs;

  Reservation(long id, Extent extent, long nowNs) {
    this.id = id;
    this.extent = extent;
    this.lastUsedNs = nowNs;
  }
}
