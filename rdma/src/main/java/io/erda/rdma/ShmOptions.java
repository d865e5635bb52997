package io.erda.rdma;

import java.nio.file.Path;
import java.util.Objects;
import java.util.function.LongSupplier;

/**
 * How a {@link ShmDevice} is opened.
 *
 * @param directory what it serves in, created when absent; null for a device that only connects
 * @param holds whether it serves nobody in the directory, but keeps servers and clients out of it
 * @param nanoTime a monotonic clock
 * @param counted whether its WRITEs are compared with what they replace, for {@link
 *     DeviceStatistics#bytesDiffering()}; slow
 * @param extraWriteLatencyNs how much longer each WRITE takes: slower memory than this machine has
 */
public record ShmOptions(
    Path directory,
    boolean holds,
    LongSupplier nanoTime,
    boolean counted,
    long extraWriteLatencyNs) {
  public ShmOptions {
    Objects.requireNonNull(nanoTime, "nanoTime");
    if (extraWriteLatencyNs < 0) {
      throw new IllegalArgumentException("extra write latency " + extraWriteLatencyNs);
    }
  }

  /** What a client opens its device with. */
  public static ShmOptions toConnect(LongSupplier nanoTime) {
    return new ShmOptions(null, false, nanoTime, false, 0);
  }

  /** What the server of a directory opens its device with. */
  public static ShmOptions toServe(Path directory, LongSupplier nanoTime) {
    Objects.requireNonNull(directory, "directory");
    return new ShmOptions(directory, false, nanoTime, false, 0);
  }

  /**
   * What a process opens that keeps a directory's regions to itself: clients of earlier servers are
   * fenced and counted as a server does it, and new ones are told that the directory is taken.
   */
  public static ShmOptions toHold(Path directory, LongSupplier nanoTime) {
    Objects.requireNonNull(directory, "directory");
    return new ShmOptions(directory, true, nanoTime, false, 0);
  }

  /** These options, with WRITEs compared and delayed. */
  public ShmOptions withWrites(boolean compared, long extraLatencyNs) {
    return new ShmOptions(directory, holds, nanoTime, compared, extraLatencyNs);
  }
}
