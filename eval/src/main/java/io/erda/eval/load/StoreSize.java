package io.erda.eval.load;

import java.util.List;

/** Chooses creation flags of a store from what it is to hold. */
public final class StoreSize {
  private static final long REGION_BYTES = 256L << 20;

  /** Next to key and value: header, padding, what extents leave unused at their ends. */
  private static final int OVERHEAD_BYTES = 64;

  /** Flags of {@code ./erda server} for so many keys and so many puts, the log keeping them all. */
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
