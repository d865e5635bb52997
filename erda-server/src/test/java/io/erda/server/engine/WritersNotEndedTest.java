package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.Cleaner;
import io.erda.cleaner.CleanerOptions;
import io.erda.logstore.LeaseResult;
import io.erda.logstore.LogStore;
import io.erda.logstore.Region;
import io.erda.pmem.HeapDirectory;
import io.erda.protocol.Result;
import org.junit.jupiter.api.Test;

/**
 * Found by simulation: a region was swept although its writers could not be ended, because what
 * they had published there could not be made durable.
 */
class WritersNotEndedTest {
  private static final CleanerOptions AT_ONCE = new CleanerOptions(2, 0, 0, 0, 0);
  private static final int STEPS = 10_000;

  @Test
  void aRegionInWhichSomebodyMayWriteIsNotSwept() {
    StoreHarness store = StoreHarness.open(new HeapDirectory(), CleaningCrashTest.SMALL);
    LogStore log = store.engine.log();
    Region victim =
        assertInstanceOf(LeaseResult.Leased.class, log.lease(0, 128, 128)).extent().region();
    for (int i = 0; log.linked().freeRegions() > 1; i++) {
      assertEquals(Result.OK, store.put("key" + i % 10, new byte[1_000]));
    }
    int[] asked = {0};
    Cleaner cleaner =
        new Cleaner(
            log,
            store.writer.entries(),
            store.writer.live(),
            region -> asked[0] += region == victim ? 1 : 0,
            Cleaner.Listener.NONE,
            AT_ONCE);
    cleaner.ask(-1);
    for (int step = 0; step < STEPS; step++) {
      cleaner.doWork(step);
    }
    assertTrue(asked[0] > 0, "its writers were to be ended");
    assertEquals(0, cleaner.cleanings());
    assertTrue(log.linked().regions().contains(victim));
    store.close();
  }
}
