package io.erda.eval.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.erda.eval.process.ProcessException;
import io.erda.ycsb.ErdaDb;
import io.erda.ycsb.Workloads;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Data that is sent to the load process and back is unchanged, or is refused. */
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
  void onlyAPhaseThatLoadsHasSeveralInsertsInFlight() {
    Properties workload = Workloads.load("workloadd"); // its transactions insert, too
    LoadPhase load = LoadPhase.of(true, 2, 1000, workload);
    assertEquals("16", LoadPhase.parse(load.format()).properties().get(ErdaDb.BATCH_SIZE));
    assertNull(LoadPhase.of(false, 2, 1000, workload).properties().get(ErdaDb.BATCH_SIZE));
    LoadPhase one = LoadPhase.of(true, 2, 1000, workload, ErdaDb.BATCH_SIZE + "=1");
    assertEquals("1", one.properties().get(ErdaDb.BATCH_SIZE));
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

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "operations=10 errors=1 updates=4",
        "operations=10 errors=1 updates=4 elapsedNs=2 read=6,1,2,3,4",
        "operations=10 errors=1 updates=4 elapsedNs=2 read=6,1,2,3,4 update=",
        "operations=10 errors=1 elapsedNs=2 read=6,1,2,3,4 update=0,0,0,0,0",
        "operations=10 errors=1 updates=4 elapsedNs= read=6,1,2,3,4 update=0,0,0,0,0",
        "operations=many errors=1 updates=4 elapsedNs=2 read=6,1,2,3,4 update=0,0,0,0,0",
        "operations=-10 errors=1 updates=4 elapsedNs=2 read=6,1,2,3,4 update=0,0,0,0,0",
        "operations=10000000000000000000 errors=1 updates=4 elapsedNs=2 read=6,1,2,3,4 update=0"
      })
  void resultsThatAreNone(String line) {
    ProcessException e = assertThrows(ProcessException.class, () -> LoadResult.parse(line));
    assertEquals("the load process answered '" + line + "', which is no result", e.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "6", "6,1,2,3", "6,1,2,3,", "6,1,2,3,4,5", "6,1,2,3,-4", "6,1,2,3,x"})
  void percentilesThatAreNone(String text) {
    ProcessException e = assertThrows(ProcessException.class, () -> Percentiles.parse(text));
    assertEquals(
        "the load process answered '" + text + "', not COUNT,P50,P99,P999,MAX", e.getMessage());
  }
}
