package io.erda.rdma;

/**
 * Counts of the work of a device's queue pairs, as seen by one side.
 *
 * <p>On the responder's side they count the work of peers on its regions, if the device knows it
 * (over shared memory each peer counts in its queue file). {@code bytesDiffering} counts written
 * bytes whose value changed, and is -1 when stores are not compared.
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
