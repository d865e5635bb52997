package io.erda.rdma;

/**
 * Counts of the work of a device's queue pairs, as seen by one side.
 *
 * <p>On the responder's side these count the peers' work on its regions, where the device knows it
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
