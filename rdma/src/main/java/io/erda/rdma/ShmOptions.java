package io.erda.rdma;

import java.nio.file.Path;
import java.util.Objects;
import java.util.function.LongSupplier;

/**
 * How a {@link ShmDevice} is opened.
 *
 * @param directory what it serves in, created when absent; null for a device that only connects
 * @param nanoTime a monotonic clock
 * @param counted whether its WRITEs are compared with what they replace, for {@link
 *     DeviceStatistics#bytesDiffering()}; slow
 * @param extraWriteLatencyNs how much longer each WRITE takes: slower memory than this machine has
 */
public record ShmOptions(
    Path directory, LongSupplier nanoTime, boolean counted, long extraWriteLatencyNs) {
  public ShmOptions {
    Objects.requireNonNull(nanoTime, "nanoTime");
    if (extraWriteLatencyNs < 0) {
      throw new IllegalArgumentException("extra write latency " + extraWriteLatencyNs);
    }
  }

  /** For a client. */
  public static ShmOptions toConnect(LongSupplier nanoTime) {
    return new ShmOptions(null, nanoTime, false, 0);
  }

  /** For the server of a directory. */
  public static ShmOptions toServe(Path directory, LongSupplier nanoTime) {
    return new ShmOptions(Objects.requireNonNull(directory, "directory"), nanoTime, false, 0);
  }

  /** The same, with WRITEs compared and delayed. */
  public ShmOptions withWrites(boolean compared, long extraLatencyNs) {
    return new ShmOptions(directory, nanoTime, compared, extraLatencyNs);
  }
}
