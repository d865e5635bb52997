package io.erda.server.engine;

import io.erda.logstore.LogGeometry;

/**
 * How a store is made. Fixed at creation, read from the superblock afterwards.
 *
 * @param geometry of the log
 * @param buckets of the table, a power of two, at least 16
 */
public record StoreOptions(LogGeometry geometry, long buckets) {
  public static final long BUCKETS_DEFAULT = 1L << 21;

  public StoreOptions {
    if (Long.bitCount(buckets) != 1 || buckets < 16 || buckets > 1L << 40) {
      throw new IllegalArgumentException(
          "buckets must be a power of two from 16 to 2^40: " + buckets);
    }
  }
}
