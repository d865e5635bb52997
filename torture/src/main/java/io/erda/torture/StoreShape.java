package io.erda.torture;

import java.util.List;

/**
 * A store to be created.
 *
 * @param keysMax the final number of keys
 * @param fills whether more is put than it can hold
 * @param options of the server that creates it
 */
record StoreShape(int keysMax, boolean fills, List<String> options) {
  /** The shapes, which take turns. */
  static final List<StoreShape> ALL =
      List.of(
          shape(1500, false, "128K", "16K", "2M", "1", "16"),
          shape(3000, false, "256K", "32K", "3M", "2", "16"),
          shape(10_000, false, "1M", "64K", "8M", "1", "256"),
          shape(5000, true, "128K", "16K", "1M", "1", "16"));

  private static StoreShape shape(
      int keysMax,
      boolean fills,
      String region,
      String segment,
      String capacity,
      String heads,
      String buckets) {
    return new StoreShape(
        keysMax,
        fills,
        List.of(
            "--region-bytes", region,
            "--segment-bytes", segment,
            "--capacity", capacity,
            "--heads", heads,
            "--buckets", buckets));
  }
}
