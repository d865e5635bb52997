package io.erda.rdma.shm;

import io.erda.pmem.OpenDirectory;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.LongSupplier;

/**
 * How a {@link ShmDevice} is opened.
 *
 * @param directory the directory to serve in, which is created when absent; null for a device that
 *     only connects
 * @param around the open parent of {@code directory}, in which the directory is found and made even
 *     when the path changes; borrowed while the device is opened; null: it is found by its path
 * @param holds whether the device holds the directory: it serves no process, and keeps servers and
 *     clients out of the directory
 * @param opened whether the regions around the directory were there before this opening, so that an
 *     earlier one has left files in the directory
 * @param nanoTime a monotonic clock
 * @param counted whether its WRITEs are compared with the bytes that they replace, for {@code
 *     DeviceStatistics.bytesDiffering}; slow
 * @param extraWriteLatencyNs the nanoseconds by which each WRITE is delayed, to model slower memory
 */
public record ShmOptions(
    Path directory,
    OpenDirectory around,
    boolean holds,
    boolean opened,
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
    return new ShmOptions(null, null, false, false, nanoTime, false, 0);
  }

  /** The options of the device of a directory's server. */
  public static ShmOptions toServe(Path directory, LongSupplier nanoTime) {
    Objects.requireNonNull(directory, "directory");
    return new ShmOptions(directory, null, false, false, nanoTime, false, 0);
  }

  /**
   * The options of a process that uses a directory's regions alone: clients of earlier servers are
   * fenced and counted as by a server, and new ones are told that the directory is taken.
   */
  public static ShmOptions toHold(Path directory, LongSupplier nanoTime) {
    Objects.requireNonNull(directory, "directory");
    return new ShmOptions(directory, null, true, false, nanoTime, false, 0);
  }

  /**
   * Returns these options with an open parent directory.
   *
   * @param open the parent of the directory of these options
   */
  public ShmOptions in(OpenDirectory open) {
    if (!open.file(directory.getFileName().toString()).equals(directory.toAbsolutePath())) {
      throw new IllegalArgumentException(directory + " is not in " + open);
    }
    return new ShmOptions(directory, open, holds, opened, nanoTime, counted, extraWriteLatencyNs);
  }

  /** Returns these options for regions that were there before, or that this opening makes. */
  public ShmOptions opened(boolean before) {
    return new ShmOptions(directory, around, holds, before, nanoTime, counted, extraWriteLatencyNs);
  }

  /** These options, with WRITEs compared and delayed. */
  public ShmOptions withWrites(boolean compared, long extraLatencyNs) {
    return new ShmOptions(directory, around, holds, opened, nanoTime, compared, extraLatencyNs);
  }
}
