package io.erda.server.engine;

import io.erda.cleaner.CleanerOptions;

/**
 * How a server serves its clients: what it grants them, and how it cleans for them.
 *
 * @param connectionsMax clients at a time
 * @param reservationIdleNs after this long without a publication an extent is ended
 * @param extentBytesMax the longest extent, bytes
 * @param pollingNs how long the server polls after its last work before it sleeps; told to clients
 *     as a hint
 * @param cleaning when and how the log is cleaned
 */
public record ServiceOptions(
    int connectionsMax,
    long reservationIdleNs,
    int extentBytesMax,
    int pollingNs,
    CleanerOptions cleaning) {
  public static final ServiceOptions DEFAULT =
      new ServiceOptions(1024, 10_000_000_000L, 1 << 20, 50_000, CleanerOptions.DEFAULT);

  /** Clients at a time of one user other than the server's own: half of all, at least one. */
  int connectionsPerUser() {
    return Math.max(1, connectionsMax / 2);
  }
}
