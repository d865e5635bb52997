package io.erda.server.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.hashtable.Entry;
import io.erda.logstore.LogGeometry;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.Survives;
import io.erda.protocol.Result;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.tables.Insertion;
import io.erda.server.engine.tables.TableGrowth;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Deleted keys leave the table, and one that is far too large becomes smaller while it is used. */
class TableShrinkTest {
  private static final LogGeometry LOG = new LogGeometry(2, 1 << 17, 4096, 16);
  private static final StoreGeometry SMALLEST = new StoreGeometry(LOG, 2);

  private static byte[] value(int number) {
    return ("value " + number).getBytes();
  }

  private static void settle(StoreHarness store) {
    for (int i = 0; store.grow() > 0 || store.writer.growth().working(); i++) {
      assertTrue(i < 100_000, "the resizing does not end");
    }
  }

  private static List<String> tables(HeapDirectory disk) {
    return disk.names().stream().filter(name -> name.startsWith("table-")).toList();
  }

  /** As sessions or a queue: unique keys, ten of them at a time. */
  @ParameterizedTest
  @EnumSource(Survives.class)
  void keysThatComeAndGoDoNotDoubleTheTable(Survives promise) throws Exception {
    HeapDirectory disk = new HeapDirectory(1 << 23, promise);
    StoreHarness store = StoreHarness.open(disk, new StoreGeometry(LOG, 64));
    for (int i = 0; i < 2000; i++) {
      store.requireOk(store.put("key" + i, value(i)));
      if (i >= 10) {
        store.requireOk(store.put("key" + (i - 10), null));
        assertNull(store.get("key" + (i - 10)));
      }
      assertArrayEquals(value(i), store.get("key" + i));
    }
    settle(store);
    TableGrowth growth = store.writer.growth();
    assertEquals(0, growth.doublings());
    assertEquals(64, store.engine.tables().buckets());
    assertTrue(growth.tombstonesEmptied() > 1900, growth.tombstonesEmptied() + " were emptied");
    assertTrue(store.engine.tables().size() < 20, store.engine.tables().size() + " entries");
    for (int i = 1990; i < 2000; i++) {
      assertArrayEquals(value(i), store.get("key" + i));
    }
    assertEquals(List.of(), store.findings());
  }

  private static void fill(StoreHarness store, int keys) {
    for (int i = 0; i < keys; i++) {
      store.requireOk(store.put("key" + i, value(i)));
    }
    settle(store);
  }

  private static void delete(StoreHarness store, int from, int to) {
    for (int i = from; i < to; i++) {
      store.requireOk(store.put("key" + i, null));
    }
  }

  @ParameterizedTest
  @EnumSource(Survives.class)
  void aTableThatIsFarTooLargeBecomesSmaller(Survives promise) throws Exception {
    HeapDirectory disk = new HeapDirectory(1 << 23, promise);
    StoreHarness store = StoreHarness.open(disk, SMALLEST);
    fill(store, 500);
    assertTrue(store.engine.tables().buckets() >= 1024);
    for (int i = 5; i < 500; i++) {
      store.requireOk(store.put("key" + i, null));
      store.requireOk(store.put("key" + i % 5, value(i)));
      assertArrayEquals(value(i), store.get("key" + i % 5));
      assertNull(store.get("key" + i));
    }
    settle(store);
    assertTrue(store.engine.tables().buckets() <= 128, store.engine.tables().buckets() + "");
    assertTrue(store.writer.growth().halvings() >= 3, store.writer.growth().halvings() + "");
    assertEquals(0, store.writer.growth().turns());
    for (int i = 495; i < 500; i++) {
      assertArrayEquals(value(i), store.get("key" + i % 5));
    }
    assertEquals(List.of(), store.findings());
    assertEquals(1, tables(disk).size(), "" + disk.names());
    fill(store, 500);
    for (int i = 0; i < 500; i++) {
      assertArrayEquals(value(i), store.get("key" + i));
    }
    assertEquals(List.of(), store.findings());
  }

  @Test
  void noTableBecomesSmallerThanItBegan() {
    StoreHarness store = StoreHarness.open(new HeapDirectory(), new StoreGeometry(LOG, 64));
    fill(store, 100);
    delete(store, 0, 100);
    settle(store);
    assertEquals(64, store.engine.tables().buckets());
  }

  /** A clean stop and a kill, each in the middle of a halving. */
  @ParameterizedTest
  @EnumSource(Survives.class)
  void aHalvingThatWasInterruptedGoesOn(Survives promise) {
    for (boolean stops : new boolean[] {true, false}) {
      HeapDirectory disk = new HeapDirectory(1 << 23, promise);
      StoreHarness store = StoreHarness.open(disk, SMALLEST);
      fill(store, 300);
      delete(store, 4, 300);
      for (int i = 0; !(store.engine.tables().halving()); i++) {
        store.grow();
        assertTrue(i < 10_000, "it is not halved");
      }
      for (int i = 0; i < 10; i++) {
        store.grow();
      }
      assertTrue(store.engine.tables().halving());
      if (stops) {
        store.close();
      }
      store = StoreHarness.open(disk.anotherView(), SMALLEST);
      assertTrue(store.engine.recovery().resizing());
      assertTrue(store.engine.recovery().notes().toString().contains("halved"));
      assertTrue(store.writer.growth().shrinking());
      assertEquals(List.of(), store.findings());
      settle(store);
      for (int i = 0; i < 4; i++) {
        assertArrayEquals(value(i), store.get("key" + i));
      }
      assertNull(store.get("key7"));
      assertTrue(store.writer.growth().halvings() > 0);
      assertEquals(List.of(), store.findings());
      assertEquals(1, tables(disk).size(), "" + disk.names());
    }
  }

  /** Keys whose homes in a table of so many buckets are one bucket, alternating one bit above. */
  private static List<String> sharing(StoreHarness store, long buckets, int count, boolean above) {
    List<String> found = new ArrayList<>();
    for (int i = 0; found.size() < count; i++) {
      String key = "sharing" + i;
      long keyWord = store.engine.keyWord(MemorySegment.ofArray(key.getBytes()), 0, key.length());
      boolean high = (keyWord & buckets) != 0;
      if (Entry.bucket(keyWord, buckets) == 5 && (!above || high == (found.size() % 2 == 0))) {
        found.add(key);
      }
    }
    return found;
  }

  private static StoreHarness withSharing(HeapDirectory disk, List<String> keys, int count) {
    StoreHarness store = StoreHarness.open(disk, SMALLEST);
    fill(store, 250);
    assertEquals(512, store.engine.tables().buckets());
    keys.addAll(sharing(store, 256, count, true));
    for (int i = 0; i < 16; i++) {
      store.requireOk(store.put(keys.get(i), value(i)));
    }
    return store;
  }

  /** Two of 512 buckets together hold 17 keys, which one of 256 buckets can't. */
  @Test
  void whatDoesNotFitIntoTheSmallerTableGoesBack() {
    HeapDirectory disk = new HeapDirectory();
    List<String> keys = new ArrayList<>();
    StoreHarness store = withSharing(disk, keys, 17);
    store.requireOk(store.put(keys.get(16), value(16)));
    delete(store, 0, 250);
    settle(store);
    assertEquals(1, store.writer.growth().turns());
    assertEquals(512, store.engine.tables().buckets());
    requireSharing(store, disk, keys);
    // It is tried again by the next server, and turns round again.
    store = StoreHarness.open(disk.anotherView(), SMALLEST);
    settle(store);
    assertEquals(512, store.engine.tables().buckets());
    requireSharing(store, disk, keys);
  }

  private static void requireSharing(StoreHarness store, HeapDirectory disk, List<String> keys) {
    for (int i = 0; i < keys.size(); i++) {
      assertArrayEquals(value(i), store.get(keys.get(i)));
    }
    assertEquals(List.of(), store.findings());
    assertEquals(1, tables(disk).size(), "" + disk.names());
  }

  /** Killed at each step of a halving that turns round, another server brings it to its end. */
  @Test
  void aTurnThatWasInterruptedGoesOn() {
    for (int steps = 0; steps < 400; steps += 7) {
      HeapDirectory disk = new HeapDirectory();
      List<String> keys = new ArrayList<>();
      StoreHarness store = withSharing(disk, keys, 17);
      store.requireOk(store.put(keys.get(16), value(16)));
      delete(store, 0, 250);
      for (int i = 0; i < 10_000 && !store.engine.tables().halving(); i++) {
        store.grow();
      }
      for (int i = 0; i < steps; i++) {
        store.grow();
      }
      store = StoreHarness.open(disk.anotherView(), SMALLEST);
      assertEquals(List.of(), store.findings());
      settle(store);
      assertEquals(512, store.engine.tables().buckets());
      requireSharing(store, disk, keys);
    }
  }

  /** The seventeenth key of two buckets comes while they become one. */
  @Test
  void anInsertionThatDoesNotFitTurnsTheHalving() {
    HeapDirectory disk = new HeapDirectory();
    List<String> keys = new ArrayList<>();
    StoreHarness store = withSharing(disk, keys, 17);
    delete(store, 0, 250);
    for (int i = 0; !store.engine.tables().halving(); i++) {
      store.grow();
      assertTrue(i < 10_000, "it is not halved");
    }
    store.requireOk(store.put(keys.get(16), value(16)));
    settle(store);
    assertEquals(1, store.writer.growth().turns());
    assertEquals(512, store.engine.tables().buckets());
    requireSharing(store, disk, keys);
  }

  /**
   * One key more than a neighbourhood holds comes while the table doubles: the new one would have
   * room for it now, and not for those that are still to be moved there.
   */
  @Test
  void aKeyTooManyForItsBucketDoesNotStopADoubling() {
    StoreHarness store = StoreHarness.open(new HeapDirectory(), SMALLEST);
    fill(store, 100);
    assertEquals(256, store.engine.tables().buckets());
    List<String> keys = sharing(store, 512, 17, false);
    for (int i = 0; i < 16; i++) {
      store.requireOk(store.put(keys.get(i), value(i)));
    }
    for (int i = 100; store.engine.tables().resizing() == null; i++) {
      store.requireOk(store.put("key" + i, value(i)));
    }
    assertEquals(Result.BUCKET_FULL, store.put(keys.get(16), value(16)));
    settle(store);
    assertEquals(512, store.engine.tables().buckets());
    // A table of twice the buckets again has room for it.
    store.requireOk(store.put(keys.get(16), value(16)));
    settle(store);
    for (int i = 0; i < 17; i++) {
      assertArrayEquals(value(i), store.get(keys.get(i)));
    }
    assertEquals(List.of(), store.findings());
  }

  /**
   * In a nearly empty table doubling does not help, and the message distinguishes this case from a
   * full table.
   */
  @Test
  void aKeyTooManyForItsBucketIsToldApartFromAFullTable() {
    StoreHarness store = StoreHarness.open(new HeapDirectory(), new StoreGeometry(LOG, 1024));
    List<String> keys = sharing(store, 1024, 17, false);
    for (int i = 0; i < 16; i++) {
      store.requireOk(store.put(keys.get(i), value(i)));
    }
    assertEquals(Result.BUCKET_FULL, store.put(keys.get(16), value(16)));
    assertTrue(Result.name(Result.BUCKET_FULL).contains("16 keys"));
    assertEquals("BUCKET", Insertion.full(Result.BUCKET_FULL));
    assertNull(store.get(keys.get(16)));
    store.requireOk(store.put("another", value(0)));
    store.requireOk(store.put(keys.get(3), null));
    store.requireOk(store.put(keys.get(16), value(16)));
    assertEquals(List.of(), store.findings());
  }
}
