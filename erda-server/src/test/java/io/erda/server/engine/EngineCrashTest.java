package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.logstore.LogGeometry;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.Survives;
import io.erda.protocol.Result;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.files.StoreWishes;
import io.erda.server.engine.publishing.PublishRequest;
import io.erda.server.engine.tables.TableGrowthTest;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The engine crashes at every store to memory that it makes: during creation, puts, deletes,
 * displacement and opening, with another capacity too; and again while it recovers.
 */
class EngineCrashTest {
  private static final long SEED = Long.getLong("erda.seed", 20261120L);

  @ParameterizedTest
  @EnumSource(Survives.class)
  void whatWasAcknowledgedIsThereWhereverItCrashes(Survives promise) {
    crashesEverywhere(promise, StoreHarness.TINY, 100);
  }

  /** The table doubles four times during the test. */
  @ParameterizedTest
  @EnumSource(Survives.class)
  void soItIsWhileTheTableGrows(Survives promise) {
    crashesEverywhere(promise, TableGrowthTest.SMALLEST, 200);
  }

  private static void crashesEverywhere(Survives promise, StoreGeometry geometry, int stepsMin) {
    long step = 0;
    boolean crashed = true;
    for (; crashed; step++) {
      HeapDirectory disk = new HeapDirectory(1 << 22, promise);
      Map<String, byte[]> acknowledged = new HashMap<>();
      Map<String, byte[]> attempted = new HashMap<>();
      crashed = crashesAt(disk, geometry, step, acknowledged, attempted);
      if (step % 3 == 0) {
        crashWhileRecovering(disk, step);
      }
      check(
          disk.anotherView(), acknowledged, attempted, "step " + step + " of -Derda.seed=" + SEED);
    }
    assertTrue(step > stepsMin, "the scenario makes only " + step + " stores");
  }

  /**
   * Puts, overwrites and deletes until the crash. An attempted operation that was not acknowledged
   * may show or not.
   */
  private static boolean crashesAt(
      HeapDirectory disk,
      StoreGeometry geometry,
      long step,
      Map<String, byte[]> acknowledged,
      Map<String, byte[]> attempted) {
    Random random = new Random(SEED);
    try {
      StoreHarness store = StoreHarness.open(new CrashingDirectory(disk, step), geometry);
      for (int i = 0; i < 40; i++) {
        String key = "key" + random.nextInt(18);
        byte[] value = random.nextInt(4) == 0 ? null : new byte[random.nextInt(300)];
        if (value != null) {
          random.nextBytes(value);
        }
        attempted.clear();
        attempted.put(key, value);
        if (store.put(key, value) == Result.OK) {
          acknowledged.put(key, value);
        }
        attempted.clear();
      }
      return false;
    } catch (CrashingDirectory.Crash e) {
      return true;
    }
  }

  /**
   * An opening that gives a store another capacity crashes at every store to memory that it makes:
   * the next one has the one capacity or the other, everything that was there, and what the
   * capacity says.
   *
   * @param regions that are asked for where there were eight
   */
  @ParameterizedTest
  @CsvSource({"PROCESS_CRASH,20", "POWER_FAILURE,20", "PROCESS_CRASH,5", "POWER_FAILURE,5"})
  void soItIsWhileTheCapacityChanges(Survives promise, int regions) throws IOException {
    StoreWishes wishes = capacity(regions);
    Set<Integer> found = new HashSet<>();
    boolean crashed = true;
    for (long step = 0; crashed; step++) {
      HeapDirectory disk = new HeapDirectory(1 << 22, promise);
      StoreHarness first = StoreHarness.open(disk);
      for (int i = 0; i < 20; i++) {
        first.requireOk(first.put("key" + i, new byte[] {(byte) i}));
      }
      wishes.require(disk.anotherView());
      try {
        StoreHarness.open(new CrashingDirectory(disk.anotherView(), step), wishes);
        crashed = false;
      } catch (CrashingDirectory.Crash e) {
        // As intended.
      }
      String where = "step " + step;
      StoreHarness next = StoreHarness.open(disk.anotherView());
      int allowed = next.engine.log().geometry().regionsMax();
      assertTrue(allowed == regions || allowed == 8, where + ": " + allowed);
      assertEquals(List.of(), next.findings(), where);
      found.add(allowed);
      // And once more, as a repeated request does.
      wishes.require(disk.anotherView());
      StoreHarness again = StoreHarness.open(disk.anotherView(), wishes);
      assertEquals(regions, again.engine.log().geometry().regionsMax(), where);
      for (int i = 0; i < 20; i++) {
        assertArrayEquals(new byte[] {(byte) i}, again.get("key" + i), where);
      }
      int filled = 0;
      while (again.put("more" + filled, new byte[3000]) == Result.OK) {
        filled++;
      }
      assertTrue(again.engine.log().regions().size() <= regions, where);
      assertEquals(List.of(), again.findings(), where);
    }
    assertEquals(Set.of(8, regions), found);
  }

  private static StoreWishes capacity(int regions) {
    long bytes = regions * StoreHarness.TINY.geometry().regionBytes();
    return new StoreWishes(
        0, 0, 0, bytes, LogGeometry.REGIONS_MAX, 0, StoreGeometry.BUCKETS_MAX, null);
  }

  private static void crashWhileRecovering(HeapDirectory disk, long step) {
    try {
      StoreHarness.open(new CrashingDirectory(disk.anotherView(), step % 7));
    } catch (CrashingDirectory.Crash e) {
      // As intended: the next opening starts over.
    }
  }

  private static void check(
      HeapDirectory disk,
      Map<String, byte[]> acknowledged,
      Map<String, byte[]> attempted,
      String where) {
    StoreHarness store = StoreHarness.open(disk);
    assertEquals(List.of(), store.findings(), where);
    for (int i = 0; i < 18; i++) {
      String key = "key" + i;
      byte[] value = store.get(key);
      if (attempted.containsKey(key) && Arrays.equals(value, attempted.get(key))) {
        continue;
      }
      assertArrayEquals(acknowledged.get(key), value, where + ", " + key);
    }
    store.requireOk(store.put("after", new byte[] {1}));
    for (int i = 0; store.writer.growth().working(); i++) {
      store.grow();
      assertTrue(i < 1000, where);
    }
    assertEquals(List.of(), store.findings(), where);
    assertArrayEquals(new byte[] {1}, store.get("after"), where);
  }

  @Test
  void anInterruptedCommitIsFinishedByRecovery() {
    int finished = 0;
    boolean crashed = true;
    for (long step = 0; crashed; step++) {
      HeapDirectory disk = new HeapDirectory(1 << 22, Survives.POWER_FAILURE);
      StoreHarness.open(disk).put("k", new byte[] {1});
      crashed = false;
      try {
        StoreHarness.open(new CrashingDirectory(disk.anotherView(), step)).put("k", new byte[] {2});
      } catch (CrashingDirectory.Crash e) {
        crashed = true;
      }
      StoreHarness after = StoreHarness.open(disk.anotherView());
      if (after.engine.recovery().committed() == 1) {
        finished++;
        assertArrayEquals(new byte[] {2}, after.get("k"));
      }
      assertEquals(List.of(), after.findings());
    }
    assertEquals(1, finished, "steps at which the word is pending and the object whole");
  }

  @Test
  void twoPutsOfOneKeyInOneBatchBothCount() {
    for (Survives promise : Survives.values()) {
      StoreHarness store = StoreHarness.open(new HeapDirectory(1 << 22, promise));
      store.add("k", new byte[] {1});
      PublishRequest second = store.add("k", new byte[] {2});
      PublishRequest delete = store.add("other", null);
      assertArrayEquals(new int[] {Result.OK, Result.OK, Result.OK}, store.publish());
      assertTrue(second.existed);
      assertEquals(false, delete.existed);
      assertArrayEquals(new byte[] {2}, store.get("k"));
      store.requireOk(store.put("k", null));
      assertNull(store.get("k"));
      assertEquals(List.of(), store.findings());
    }
  }
}
