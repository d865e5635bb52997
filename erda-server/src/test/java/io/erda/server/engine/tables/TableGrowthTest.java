package io.erda.server.engine.tables;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.hashtable.VersionWord;
import io.erda.logstore.LogGeometry;
import io.erda.pmem.Creation;
import io.erda.pmem.ForwardingDirectory;
import io.erda.pmem.HeapDirectory;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import io.erda.protocol.Result;
import io.erda.server.engine.FullDirectory;
import io.erda.server.engine.StoreHarness;
import io.erda.server.engine.files.StoreGeometry;
import io.erda.server.engine.files.TableGrowthOptions;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The table grows while it is used, as far as it may. */
public class TableGrowthTest {
  public static final StoreGeometry SMALLEST =
      new StoreGeometry(new LogGeometry(2, 1 << 16, 4096, 8), 2);

  private static byte[] value(int number) {
    return ("value " + number).getBytes();
  }

  @ParameterizedTest
  @EnumSource(Survives.class)
  void aTableOfTwoBucketsHoldsHundredsOfKeys(Survives promise) throws Exception {
    HeapDirectory disk = new HeapDirectory(1 << 22, promise);
    StoreHarness store = StoreHarness.open(disk, SMALLEST);
    for (int i = 0; i < 500; i++) {
      store.requireOk(store.put("key" + i, value(i)));
      int other = i / 2;
      store.requireOk(store.put("key" + other, value(other)));
      assertArrayEquals(value(other / 2), store.get("key" + other / 2));
    }
    settle(store);
    for (int i = 0; i < 500; i++) {
      assertArrayEquals(value(i), store.get("key" + i));
    }
    assertTrue(store.writer.growth().doublings() >= 8, "" + store.writer.growth().doublings());
    assertEquals(500, store.engine.tables().size());
    assertEquals(List.of(), store.findings());
    assertEquals(1, tables(disk).size(), "" + disk.names());
  }

  private static void settle(StoreHarness store) {
    for (int i = 0; store.grow() > 0 || store.writer.growth().working(); i++) {
      assertTrue(i < 100_000, "the doubling does not end");
    }
  }

  private static List<String> tables(HeapDirectory disk) {
    return disk.names().stream().filter(name -> name.startsWith("table-")).toList();
  }

  @Test
  void aBatchThatDoesNotFitMakesItselfRoom() {
    StoreHarness store = StoreHarness.open(new HeapDirectory(), SMALLEST);
    for (int batch = 0; batch < 20; batch++) {
      for (int i = 0; i < 16; i++) {
        store.add("key" + batch + "." + i, value(i));
      }
      for (int result : store.publish()) {
        store.requireOk(result);
      }
    }
    assertTrue(store.writer.growth().doublings() > 3);
    assertEquals(List.of(), store.findings());
  }

  @Test
  void atItsLargestSizeItIsFullAndAllElseGoesOn() {
    HeapDirectory disk = new HeapDirectory();
    StoreHarness store = StoreHarness.open(disk, SMALLEST, new TableGrowthOptions(16, 4, 0));
    int count = 0;
    while (store.put("key" + count, value(count)) == Result.OK) {
      count++;
    }
    settle(store);
    assertEquals(16, store.engine.tables().buckets());
    assertEquals(Result.TABLE_FULL, store.put("one more", value(0)));
    assertNull(store.get("one more"));
    for (int i = 0; i < count; i++) {
      store.requireOk(store.put("key" + i, value(i + 1)));
      assertArrayEquals(value(i + 1), store.get("key" + i));
    }
    store.requireOk(store.put("key0", null));
    assertNull(store.get("key0"));
    store.close();
    store = StoreHarness.open(disk.anotherView(), SMALLEST, new TableGrowthOptions(32, 4, 0));
    store.requireOk(store.put("one more", value(0)));
    assertEquals(List.of(), store.findings());
  }

  @Test
  void withoutRoomOnTheDiskItIsPutOffAndTriedAgain() {
    FullDirectory disk = new FullDirectory(new HeapDirectory());
    StoreHarness store = StoreHarness.open(disk, SMALLEST);
    disk.full = true;
    int count = 0;
    while (store.put("key" + count, value(count)) == Result.OK) {
      count++;
    }
    assertEquals(Result.DISK_FULL, store.put("one more", value(0)));
    long tried = store.writer.growth().timesPutOff();
    store.grow();
    assertEquals(tried, store.writer.growth().timesPutOff(), "not at every step");
    for (int i = 0; i < count; i++) {
      store.requireOk(store.put("key" + i, value(i + 1)));
    }
    store.requireOk(store.put("key0", null));
    disk.full = false;
    for (int i = 0; i < 1001; i++) {
      store.grow();
    }
    settle(store);
    store.requireOk(store.put("one more", value(0)));
    assertArrayEquals(value(2), store.get("key1"));
    assertEquals(List.of(), store.findings());
  }

  /** As when the process has too many files open, or no room for a mapping: that is over soon. */
  @Test
  void aTableThatCanNotBeMappedIsMadeAgain() throws IOException {
    FaultyDirectory disk = new FaultyDirectory(new HeapDirectory());
    StoreHarness store = StoreHarness.open(disk, SMALLEST);
    disk.mapsNoNewFile = true;
    int count = 0;
    while (store.put("key" + count, value(count)) == Result.OK) {
      count++;
    }
    assertTrue(disk.refused > 0);
    for (int i = 0; i < count; i++) {
      store.requireOk(store.put("key" + i, value(i + 1)));
    }
    for (int i = 0; i < 3 * 1001; i++) {
      store.grow();
    }
    assertTrue(disk.refused > 2, "it is tried again, " + disk.refused);
    disk.mapsNoNewFile = false;
    for (int i = 0; i < 1001; i++) {
      store.grow();
    }
    settle(store);
    for (int i = 0; i < 100; i++) {
      store.requireOk(store.put("more" + i, value(i)));
    }
    settle(store);
    assertTrue(store.writer.growth().doublings() > 3);
    assertEquals(List.of(), store.findings());
  }

  /** There is no way back from the middle of a doubling, so nothing is opened there. */
  @Test
  void whereNoFileCanBeOpenedADoublingGoesOn() throws IOException {
    FaultyDirectory disk = new FaultyDirectory(new HeapDirectory());
    StoreHarness store = StoreHarness.open(disk, SMALLEST);
    disk.opensNoFile = true;
    for (int i = 0; i < 100; i++) {
      store.requireOk(store.put("key" + i, value(i)));
    }
    settle(store);
    assertTrue(store.writer.growth().doublings() > 3);
    disk.opensNoFile = false;
    assertEquals(List.of(), store.findings());
  }

  /** A process without room for one more file, or one more mapping. */
  private static final class FaultyDirectory extends ForwardingDirectory {
    boolean mapsNoNewFile;
    boolean opensNoFile;
    int refused;

    FaultyDirectory(HeapDirectory directory) {
      super(directory);
    }

    @Override
    public PersistentMemory open(String name) throws IOException {
      if (opensNoFile) {
        throw new FileSystemException(name, null, "Too many open files");
      }
      return super.open(name);
    }

    @Override
    public Creation creating(String name, long length) throws IOException {
      Creation whole = super.creating(name, length);
      return mapsNoNewFile && name.startsWith("table-") ? unmapped(name, whole) : whole;
    }

    /** Fails when the file has its name, and leaves nothing behind, as a creation has to. */
    private Creation unmapped(String name, Creation whole) {
      return new Creation() {
        @Override
        public PersistentMemory step() throws IOException {
          PersistentMemory memory = whole.step();
          if (memory == null) {
            return null;
          }
          refused++;
          memory.close();
          delete(name);
          throw new IOException("Map failed");
        }

        @Override
        public void close() {
          whole.close();
        }
      };
    }
  }

  /** There is one step for each MiB, because other requests wait for the thread during a step. */
  @Test
  void aPutDoesNotWaitUntilTheFileOfALargeTableIsMade() {
    int[] steps = new int[1];
    HeapDirectory disk = new HeapDirectory();
    StoreHarness store =
        StoreHarness.open(
            new ForwardingDirectory(disk) {
              @Override
              public Creation creating(String name, long length) throws IOException {
                Creation whole = super.creating(name, length);
                return name.startsWith("table-") ? slow(whole, steps) : whole;
              }
            },
            SMALLEST);
    int count = 0;
    while (!store.writer.growth().makesRoom()) {
      store.requireOk(store.put("key" + count, value(count++)));
    }
    int result = Result.OK;
    while (result == Result.OK) {
      steps[0] = 0;
      store.add("key" + count, value(count++));
      result = store.publish()[0];
      assertTrue(steps[0] <= TableGrowth.CREATION_STEPS_AT_ONCE, steps[0] + " steps in a put");
    }
    assertEquals(Result.NOT_NOW, result);
    settle(store);
    store.requireOk(store.put("key" + count, value(count)));
    assertEquals(List.of(), store.findings());
  }

  private static Creation slow(Creation whole, int[] steps) {
    int[] left = {1000};
    return new Creation() {
      @Override
      public PersistentMemory step() throws IOException {
        steps[0]++;
        return left[0]-- > 0 ? null : whole.step();
      }

      @Override
      public void close() {
        whole.close();
      }
    };
  }

  @Test
  void anInsertionWithoutRoomDoesNotCountALargeTable() {
    HeapDirectory disk = new HeapDirectory();
    StoreHarness.open(disk, LARGE).close();
    StoreHarness store = StoreHarness.open(disk.anotherView(), LARGE);
    assertFalse(store.writer.growth().makeRoom(1), "nothing is in it: a larger one would not help");
    assertEquals(-1, store.engine.tables().sizeIfKnown());
    while (store.writer.growth().doWork(0) > 0) {
      // counts on
    }
    assertEquals(0, store.engine.tables().sizeIfKnown());
  }

  private static final StoreGeometry LARGE =
      new StoreGeometry(new LogGeometry(2, 1 << 16, 4096, 8), 1 << 18);

  @Test
  void aStoreThatIsClosedInTheMiddleGoesOnWhenItIsOpened() {
    HeapDirectory disk = new HeapDirectory();
    StoreHarness store = StoreHarness.open(disk, TINY_LOG_MANY_BUCKETS);
    for (int i = 0; i < 129; i++) {
      store.requireOk(store.put("key" + i, value(i)));
    }
    while (store.engine.tables().resizing() == null) {
      store.grow();
    }
    for (int i = 0; i < 20; i++) {
      store.grow();
    }
    store.close();
    store = StoreHarness.open(disk.anotherView(), TINY_LOG_MANY_BUCKETS);
    assertTrue(store.writer.growth().working());
    assertTrue(store.engine.recovery().notes().toString().contains("512"));
    assertEquals(List.of(), store.findings());
    for (int i = 0; i < 129; i++) {
      assertArrayEquals(value(i), store.get("key" + i));
    }
    settle(store);
    assertEquals(512, store.engine.tables().buckets());
    assertEquals(129, store.engine.tables().size());
    assertEquals(List.of(), store.findings());
  }

  private static final StoreGeometry TINY_LOG_MANY_BUCKETS =
      new StoreGeometry(new LogGeometry(2, 1 << 16, 4096, 8), 256);

  @Test
  void anEntryThatWasMovedIsNotStoredToWhereItWas() {
    StoreHarness store = StoreHarness.open(new HeapDirectory(), SMALLEST);
    store.put("a", value(1));
    long[] found = new long[3];
    store
        .engine
        .tables()
        .forEach((entry, keyWord, word) -> {
          found[0] = entry;
          found[1] = keyWord;
          found[2] = word;
        });
    for (int i = 0; i < 100; i++) {
      store.put("key" + i, value(i));
    }
    settle(store);
    long next = VersionWord.update(found[2], 8, false);
    assertFalse(store.engine.tables().storeWord(found[0], found[1], found[2], next));
    assertFalse(store.engine.tables().empty(found[0] | 1L << 40, found[1], found[2]));
    assertArrayEquals(value(1), store.get("a"));
  }

  @Test
  void aPendingEntryOfTheOldTableIsRolledBackBeforeItMoves() {
    StoreHarness store = StoreHarness.open(new HeapDirectory(), SMALLEST);
    store.put("a", value(1));
    store
        .engine
        .tables()
        .forEach((entry, keyWord, word) ->
            store
                .engine
                .tables()
                .storeWord(entry, keyWord, word, VersionWord.update(word, 100, true)));
    for (int i = 0; i < 3; i++) {
      store.put("key" + i, value(i));
    }
    settle(store);
    assertTrue(store.writer.growth().doublings() > 0);
    assertArrayEquals(value(1), store.get("a"));
    assertEquals(List.of(), store.findings());
  }

  /** Puts, deletes and whole doublings happen between the slices of a walk. */
  @Test
  void aWalkInSlicesMissesNothingThatWasThereAllTheTime() {
    long seed = Long.getLong("erda.seed", 20261121L);
    for (int run = 0; run < 50; run++) {
      Random random = new Random(seed + run);
      StoreHarness store = StoreHarness.open(new HeapDirectory(), SMALLEST);
      int count = 1 + random.nextInt(40);
      for (int i = 0; i < count; i++) {
        store.put("key" + i, value(i));
      }
      Set<Long> before = new HashSet<>();
      store.engine.tables().forEach((entry, keyWord, word) -> before.add(keyWord));
      Tables.Walk walk = store.engine.tables().walk();
      Set<Long> seen = new HashSet<>();
      int number = 0;
      while (walk.doWork(1 + random.nextInt(9), (entry, keyWord, word) -> seen.add(keyWord)) > 0) {
        for (int i = random.nextInt(4); i > 0; i--) {
          if (number < 120 && random.nextBoolean()) {
            store.put("more" + number++, value(0));
          }
          store.grow();
        }
      }
      assertTrue(walk.done());
      before.removeAll(seen);
      assertEquals(Set.of(), before, "run " + run + " of -Derda.seed=" + seed);
    }
  }
}
