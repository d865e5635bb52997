package io.erda.rdma.shm;

import io.erda.pmem.OpenDirectory;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.LongSupplier;

/**
 * How a {@link ShmDevice} is opened.
 *
 * @param directory to serve in, created when absent; null for a device that only connects
 * @param around the open directory that {@code directory} is in, so that it is found and made there
 *     even when its path changes; borrowed while the device is opened; null: it is found by path
 * @param holds whether it serves nobody in the directory, but keeps servers and clients out of it
 * @param nanoTime a monotonic clock
 * @param counted whether its WRITEs are compared with the bytes that they replace, for {@code
 *     DeviceStatistics.bytesDiffering}; slow
 * @param extraWriteLatencyNs how much longer each WRITE takes: slower memory than this machine has
 */
public record ShmOptions(
    Path directory,
    OpenDirectory around,
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

  /** The options of a client's device. */
  public static ShmOptions toConnect(LongSupplier nanoTime) {
    return new ShmOptions(null, null, false, nanoTime, false, 0);
  }

  /** The options of the device of a directory's server. */
  public static ShmOptions toServe(Path directory, LongSupplier nanoTime) {
    Objects.requireNonNull(directory, "directory");
    return new ShmOptions(directory, null, false, nanoTime, false, 0);
  }

  /**
   * The options of a process that keeps a directory's regions to itself: clients of earlier servers
   * are fenced and counted as by a server, and new ones are told that the directory is taken.
   */
  public static ShmOptions toHold(Path directory, LongSupplier nanoTime) {
    Objects.requireNonNull(directory, "directory");
    return new ShmOptions(directory, null, true, nanoTime, false, 0);
  }

  /**
   * These options for a directory in an open one.
   *
   * @param open the directory around that of these options
   */
  public ShmOptions in(OpenDirectory open) {
    if (!open.file(directory.getFileName().toString()).equals(directory.toAbsolutePath())) {
      throw new IllegalArgumentException(directory + " is not in " + open);
    }
    return new ShmOptions(directory, open, holds, nanoTime, counted, extraWriteLatencyNs);
  }

  /** These options, with WRITEs compared and delayed. */
  public ShmOptions withWrites(boolean compared, long extraLatencyNs) {
    return new ShmOptions(directory, around, holds, nanoTime, compared, extraLatencyNs);
  }
}
