package io.erda.server;

import io.erda.logstore.LogGeometry;
import io.erda.protocol.Promise;

/**
 * How to create and serve a store. {@link #DEFAULTS}, then the withers.
 *
 * <p>Geometry ({@code heads} to {@code buckets}) counts only when the store is created; an existing
 * store keeps what it was created with.
 *
 * @param heads of the log, 1…256; 0: as many as the capacity needs
 * @param regionBytes a power of two, 64 KiB … 1 GiB
 * @param segmentBytes a power of two, 4 KiB … 16 MiB: no object is longer
 * @param capacityBytes that the log may grow to, at least a region; a head reaches 16 GiB
 * @param buckets of the hash table, a power of two: about the most keys the store will hold
 * @param promise what an acknowledgement must mean, or null for the strongest that the files have
 *     without being synchronised. {@link Promise#POWER} on ordinary files synchronises them at
 *     every put
 * @param pollingNs how long an idle server polls before it sleeps
 * @param connectionsMax clients at a time
 * @param counted count the bytes that stores really change (costs a comparison at every store)
 * @param writeLatencyNs extra latency of every drained cache line, to model persistent memory; 0:
 *     none
 */
public record ServerOptions(
    int heads,
    long regionBytes,
    int segmentBytes,
    long capacityBytes,
    long buckets,
    Promise promise,
    int pollingNs,
    int connectionsMax,
    boolean counted,
    int writeLatencyNs) {
  /** 1 GiB regions of 8 MiB segments, 16 GiB of log, two million buckets, 50 µs of polling. */
  public static final ServerOptions DEFAULTS =
      new ServerOptions(
          0,
          LogGeometry.REGION_BYTES_DEFAULT,
          LogGeometry.SEGMENT_BYTES_DEFAULT,
          16L << 30,
          1L << 21,
          null,
          50_000,
          1024,
          false,
          0);

  private static final long HEAD_BYTES_MAX = 16L << 30;

  public ServerOptions withHeads(int value) {
    return new ServerOptions(
        value,
        regionBytes,
        segmentBytes,
        capacityBytes,
        buckets,
        promise,
        pollingNs,
        connectionsMax,
        counted,
        writeLatencyNs);
  }

  public ServerOptions withRegionBytes(long value) {
    return new ServerOptions(
        heads,
        value,
        segmentBytes,
        capacityBytes,
        buckets,
        promise,
        pollingNs,
        connectionsMax,
        counted,
        writeLatencyNs);
  }

  public ServerOptions withSegmentBytes(int value) {
    return new ServerOptions(
        heads,
        regionBytes,
        value,
        capacityBytes,
        buckets,
        promise,
        pollingNs,
        connectionsMax,
        counted,
        writeLatencyNs);
  }

  public ServerOptions withCapacityBytes(long value) {
    return new ServerOptions(
        heads,
        regionBytes,
        segmentBytes,
        value,
        buckets,
        promise,
        pollingNs,
        connectionsMax,
        counted,
        writeLatencyNs);
  }

  public ServerOptions withBuckets(long value) {
    return new ServerOptions(
        heads,
        regionBytes,
        segmentBytes,
        capacityBytes,
        value,
        promise,
        pollingNs,
        connectionsMax,
        counted,
        writeLatencyNs);
  }

  public ServerOptions withPromise(Promise value) {
    return new ServerOptions(
        heads,
        regionBytes,
        segmentBytes,
        capacityBytes,
        buckets,
        value,
        pollingNs,
        connectionsMax,
        counted,
        writeLatencyNs);
  }

  public ServerOptions withPollingNs(int value) {
    return new ServerOptions(
        heads,
        regionBytes,
        segmentBytes,
        capacityBytes,
        buckets,
        promise,
        value,
        connectionsMax,
        counted,
        writeLatencyNs);
  }

  public ServerOptions withConnectionsMax(int value) {
    return new ServerOptions(
        heads,
        regionBytes,
        segmentBytes,
        capacityBytes,
        buckets,
        promise,
        pollingNs,
        value,
        counted,
        writeLatencyNs);
  }

  public ServerOptions withCounted(boolean value) {
    return new ServerOptions(
        heads,
        regionBytes,
        segmentBytes,
        capacityBytes,
        buckets,
        promise,
        pollingNs,
        connectionsMax,
        value,
        writeLatencyNs);
  }

  public ServerOptions withWriteLatencyNs(int value) {
    return new ServerOptions(
        heads,
        regionBytes,
        segmentBytes,
        capacityBytes,
        buckets,
        promise,
        pollingNs,
        connectionsMax,
        counted,
        value);
  }

  /** The log's geometry. @throws IllegalArgumentException naming the option and its bounds */
  LogGeometry geometry() {
    if (capacityBytes < regionBytes) {
      throw new IllegalArgumentException(
          "capacity of " + capacityBytes + " bytes is less than one region of " + regionBytes);
    }
    int enough = (int) Math.min(256, (capacityBytes + HEAD_BYTES_MAX - 1) / HEAD_BYTES_MAX);
    int chosen = heads == 0 ? enough : heads;
    if (chosen < enough || capacityBytes > 256 * HEAD_BYTES_MAX) {
      throw new IllegalArgumentException(
          "capacity of "
              + capacityBytes
              + " bytes needs more than "
              + chosen
              + " heads: a head reaches "
              + HEAD_BYTES_MAX
              + " bytes");
    }
    if (capacityBytes / regionBytes < chosen) {
      throw new IllegalArgumentException(
          "capacity of "
              + capacityBytes
              + " bytes holds fewer regions of "
              + regionBytes
              + " bytes than there are heads ("
              + chosen
              + ")");
    }
    return new LogGeometry(chosen, regionBytes, segmentBytes, (int) (capacityBytes / regionBytes));
  }
}
