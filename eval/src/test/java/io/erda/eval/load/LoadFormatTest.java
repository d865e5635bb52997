package io.erda.eval.load;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.ycsb.Workloads;
import org.junit.jupiter.api.Test;

/** What crosses the border to the load process comes back as it was. */
class LoadFormatTest {
  @Test
  void phases() {
    LoadPhase phase =
        LoadPhase.of(false, 2, 1000, Workloads.load("workloada"), "fieldcount=1", "x=a=b c")
            .withWarmup(7)
            .withServerReadsPerMillion(10_000);
    assertEquals(phase, LoadPhase.parse(phase.format()));
    assertEquals("a=b c", phase.properties().get("x"));
  }

  @Test
  void results() {
    LoadResult result =
        new LoadResult(
            10,
            1,
            4,
            2_000_000_000L,
            new Percentiles(6, 1, 2, 3, 4),
            new Percentiles(0, 0, 0, 0, 0));
    assertEquals(result, LoadResult.parse(result.format()));
    assertEquals(5, result.throughputOpsPerSecond());
  }
}
