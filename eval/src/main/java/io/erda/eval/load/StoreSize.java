package io.erda.eval.load;

import java.util.List;

/** Chooses the creation flags of a store by its expected content. */
public final class StoreSize {
  private static final long REGION_BYTES = 256L << 20;

  /** Bytes of an object besides key and value: header, padding, unused ends of extents. */
  private static final int OVERHEAD_BYTES = 64;

  /**
   * Flags of {@code ./erda server} for these numbers of keys and puts, with a log that keeps all
   * puts.
   */
  public static List<String> flags(long keys, long puts, int keyAndValueBytes) {
    long bytes = (long) (puts * (keyAndValueBytes + OVERHEAD_BYTES) * 1.05);
    long capacity = (bytes / REGION_BYTES + 2) * REGION_BYTES;
    long buckets = Long.highestOneBit(Math.max(keys, 512) * 2 - 1) * 2;
    return List.of(
        "--region-bytes", Long.toString(REGION_BYTES),
        "--capacity", Long.toString(capacity),
        "--buckets", Long.toString(buckets));
  }

  private StoreSize() {}
}
