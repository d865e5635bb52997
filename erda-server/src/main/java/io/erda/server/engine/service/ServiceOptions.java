package io.erda.server.engine.service;

import io.erda.cleaner.CleanerOptions;
import io.erda.server.engine.files.TableGrowthOptions;

/**
 * How a server serves its clients: limits, polling, cleaning, and how its table grows.
 *
 * @param connectionsMax clients at a time
 * @param reservationIdleNs the time without a publication after which an extent is ended
 * @param extentBytesMax the longest extent, bytes
 * @param pollingNs how long the server polls after its last work before it sleeps; told to clients
 *     as a hint
 * @param cleaning when and how the log is cleaned
 * @param limits the limits of one client and one user
 * @param growth how the table grows and shrinks
 */
public record ServiceOptions(
    int connectionsMax,
    long reservationIdleNs,
    int extentBytesMax,
    int pollingNs,
    CleanerOptions cleaning,
    Limits limits,
    TableGrowthOptions growth) {
  public static final ServiceOptions DEFAULT =
      new ServiceOptions(1024, 10_000_000_000L, 1 << 20, 50_000, CleanerOptions.DEFAULT);

  /** Options with the default limits, and for a table that grows as usual. */
  public ServiceOptions(
      int connectionsMax,
      long reservationIdleNs,
      int extentBytesMax,
      int pollingNs,
      CleanerOptions cleaning) {
    this(
        connectionsMax,
        reservationIdleNs,
        extentBytesMax,
        pollingNs,
        cleaning,
        Limits.of(connectionsMax),
        TableGrowthOptions.DEFAULT);
  }

  /** These options, for a table that grows in another way. */
  public ServiceOptions withGrowth(TableGrowthOptions other) {
    return new ServiceOptions(
        connectionsMax, reservationIdleNs, extentBytesMax, pollingNs, cleaning, limits, other);
  }
}
