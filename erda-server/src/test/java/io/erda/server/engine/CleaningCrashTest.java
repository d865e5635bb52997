package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.cleaner.Cleaner;
import io.erda.cleaner.CleanerOptions;
import io.erda.logstore.LinkListener;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.LogStore;
import io.erda.logstore.Region;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.Survives;
import io.erda.protocol.Result;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.store.StoreEngine;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Cleaning is interrupted at every store to memory that it makes: nothing is lost, what was deleted
 * stays deleted, and the next run finishes it.
 */
class CleaningCrashTest {
  private static final long SEED = Long.getLong("erda.seed", 20261121L);
  private static final CleanerOptions OPTIONS = new CleanerOptions(2, 0, 0, 0, 0);
  private static final int KEYS = 140;

  /** Two regions that are full, and the spare one. */
  private static final LogGeometry GEOMETRY = new LogGeometry(1, 1 << 16, 4096, 3);

  static final StoreGeometry SMALL = new StoreGeometry(GEOMETRY, 512);

  @ParameterizedTest
  @EnumSource(Survives.class)
  void nothingIsLostWhereverCleaningCrashes(Survives promise) {
    long step = 0;
    boolean crashed = true;
    for (; crashed; step += 1 + step / 100) {
      HeapDirectory disk = new HeapDirectory(1 << 23, promise);
      Map<String, byte[]> values = fill(disk);
      crashed = cleaningCrashes(new CrashingDirectory(disk.anotherView(), step));
      String where = "step " + step + " of -Derda.seed=" + SEED;
      if (step % 3 == 0) {
        cleaningCrashes(new CrashingDirectory(disk.anotherView(), step % 50));
      }
      StoreHarness store = StoreHarness.open(disk.anotherView(), SMALL);
      check(store, values, where + ", recovered");
      clean(store);
      check(store, values, where + ", cleaned");
      assertTrue(
          store.engine.log().linked().freeRegions() >= 1, where + ": the reserved region is gone");
    }
    assertTrue(step > 100, "cleaning makes only " + step + " stores");
  }

  /** Two full regions; most of it is live, so that copies of one don't fit beside the other's. */
  static Map<String, byte[]> fill(MemoryDirectory disk) {
    Random random = new Random(SEED);
    StoreHarness store = StoreHarness.open(disk, SMALL);
    LogStore log = store.engine.log();
    Map<String, byte[]> values = new HashMap<>();
    for (int i = 0; log.linked().freeRegions() > 1 || log.linked().appendPlace(0) < 60_000; i++) {
      String key = "key" + (i < KEYS ? i : random.nextInt(KEYS));
      byte[] value = i >= KEYS && i % 6 == 0 ? null : new byte[random.nextInt(1200)];
      if (value != null) {
        random.nextBytes(value);
      }
      if (store.put(key, value) == Result.OK) {
        values.put(key, value);
      }
    }
    return values;
  }

  private static boolean cleaningCrashes(MemoryDirectory directory) {
    try {
      clean(StoreHarness.open(directory, SMALL));
      return false;
    } catch (CrashingDirectory.Crash e) {
      return true;
    }
  }

  /** Cleans all there is to clean, and what the last run did not finish. Returns cleanings. */
  static long clean(StoreHarness store) {
    StoreEngine engine = store.engine;
    Cleaner cleaner =
        new Cleaner(
            engine.log(),
            store.writer.entries(),
            store.writer.live(),
            region -> {},
            Cleaner.Listener.NONE,
            OPTIONS);
    engine
        .log()
        .onLink(
            new LinkListener() {
              @Override
              public void linked(Region region) {
                engine.root().nextEpoch();
              }

              @Override
              public void retired(Region region) {
                engine.root().nextEpoch();
              }
            });
    cleaner.ask(-1);
    for (int steps = 0; cleaner.doWork(steps) > 0 || cleaner.asked(); steps++) {
      assertTrue(steps < 100_000, () -> "cleaning does not end: " + cleaner);
    }
    return cleaner.cleanings();
  }

  private static void check(StoreHarness store, Map<String, byte[]> values, String where) {
    assertEquals(List.of(), store.findings(), where);
    values.forEach((key, value) -> assertArrayEquals(value, store.get(key), where + ", " + key));
  }
}
