package io.erda.server.engine.files;

import io.erda.logstore.LogGeometry;
import io.erda.protocol.PutMode;

/**
 * The parameters of a store that are fixed at its creation and read from the superblock afterwards.
 *
 * @param geometry the geometry of the log
 * @param buckets number of buckets of the first table, a power of two
 * @param putMode how objects come to be the newest version of their keys
 */
public record StoreGeometry(LogGeometry geometry, long buckets, PutMode putMode) {
  /** The most buckets that a table can have. */
  public static final long BUCKETS_MAX = 1L << 40;

  /**
   * The most registrations with a device besides those of the log's regions: these are for the root
   * and the tables. A table that was doubled keeps its registration for a grace period, and from 2
   * to 2^40 buckets there are 40 tables. A device must have this many registrations in reserve,
   * because a doubling needs them.
   */
  public static final int REGISTRATIONS_BESIDE_LOG = 66;

  private static final long BUCKETS_MIN = 2;

  /** Makes the geometry of a store in which puts publish last. */
  public StoreGeometry(LogGeometry geometry, long buckets) {
    this(geometry, buckets, PutMode.PUBLISH);
  }

  public StoreGeometry {
    if (Long.bitCount(buckets) != 1 || buckets < BUCKETS_MIN || buckets > BUCKETS_MAX) {
      throw new IllegalArgumentException(
          "buckets must be a power of two from 2 to 2^40: " + buckets);
    }
  }

  /** A copy with another put mode. */
  public StoreGeometry withPutMode(PutMode mode) {
    return new StoreGeometry(geometry, buckets, mode);
  }
}
