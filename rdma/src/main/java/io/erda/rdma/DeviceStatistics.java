package io.erda.rdma;

/**
 * What the queue pairs of a device have moved, as seen by the side that asks.
 *
 * <p>On the responder's side these count what peers did to its regions, where the device can tell
 * (shared memory: each peer counts into its queue file). {@code bytesDiffering} counts written
 * bytes whose value changed, and is -1 where stores are not compared.
 */
public record DeviceStatistics(
    long reads,
    long bytesRead,
    long writes,
    long bytesWritten,
    long bytesDiffering,
    long sends,
    long receives) {
  public static final DeviceStatistics NONE = new DeviceStatistics(0, 0, 0, 0, 0, 0, 0);

  /** The sum of both. */
  public DeviceStatistics plus(DeviceStatistics other) {
    return new DeviceStatistics(
        reads + other.reads,
        bytesRead + other.bytesRead,
        writes + other.writes,
        bytesWritten + other.bytesWritten,
        bytesDiffering < 0 || other.bytesDiffering < 0 ? -1 : bytesDiffering + other.bytesDiffering,
        sends + other.sends,
        receives + other.receives);
  }
}
