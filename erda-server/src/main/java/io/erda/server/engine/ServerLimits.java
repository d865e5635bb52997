package io.erda.server.engine;

/**
 * What the service grants.
 *
 * @param connectionsMax clients at a time
 * @param reservationIdleNs after this long without a publication an extent is ended
 * @param extentBytesMax the longest extent, bytes
 * @param pollingNs how long the server polls after its last work before it sleeps; told to clients
 *     as a hint
 */
public record ServerLimits(
    int connectionsMax, long reservationIdleNs, int extentBytesMax, int pollingNs) {
  public static final ServerLimits DEFAULT =
      new ServerLimits(1024, 10_000_000_000L, 1 << 20, 50_000);
}
