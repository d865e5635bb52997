package io.erda.eval.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StoreSizeTest {
  private static Map<String, Long> flags(long keys, long puts, int bytes) {
    List<String> flags = StoreSize.flags(keys, puts, bytes);
    Map<String, Long> values = new HashMap<>();
    for (int i = 0; i < flags.size(); i += 2) {
      values.put(flags.get(i), Long.parseLong(flags.get(i + 1)));
    }
    return values;
  }

  @Test
  void theLogKeepsAllPutsInWholeRegions() {
    for (long puts : new long[] {1, 10_000, 1_000_000, 10_000_000}) {
      Map<String, Long> flags = flags(1000, puts, 1088);
      long capacity = flags.get("--capacity");
      assertEquals(0, capacity % flags.get("--region-bytes"));
      assertTrue(capacity - flags.get("--region-bytes") > puts * 1088, puts + " puts");
    }
  }

  /** A table doubles when half of its entries are taken, which would be measured too. */
  @Test
  void theTableIsLessThanHalfFull() {
    for (long keys : new long[] {1, 511, 512, 513, 1 << 20, (1 << 20) + 1}) {
      long buckets = flags(keys, keys, 100).get("--buckets");
      assertEquals(1, Long.bitCount(buckets), keys + " keys");
      assertTrue(buckets >= 2 * keys, buckets + " for " + keys + " keys");
      assertTrue(buckets <= 4 * Math.max(keys, 512), buckets + " for " + keys + " keys");
    }
  }
}
