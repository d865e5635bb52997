package io.erda.client.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.protocol.Root;
import io.erda.protocol.StoreTables;
import io.erda.protocol.SuperblockLayout;
import io.erda.rdma.Status;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Maps that are read while a server stores, in its order, between any two loads. */
class MapReaderTest {
  private static final long SEED = Long.getLong("erda.seed", 20261123L);
  private static final int LINKED = 0xA5;
  private static final int RETIRED = 0x5A;

  private SteppedFiles files = new SteppedFiles();

  /** The steps of a server: each change comes before the epoch that announces it. */
  private List<Runnable> script() {
    List<Runnable> steps = new ArrayList<>();
    steps.add(() -> files.link(1, LINKED, 1, 2));
    steps.add(() -> files.root(Root.EPOCH_OFFSET, 2));
    // From here on words name the region in slot 1, and none that in slot 0 before the next step.
    steps.add(() -> files.link(0, RETIRED, 0, 1));
    steps.add(() -> files.root(Root.EPOCH_OFFSET, 3));
    steps.add(() -> files.link(0, 0, 0, 0));
    steps.addAll(Arrays.asList(files.superblockInSteps(1, true)));
    steps.add(() -> files.root(Root.EPOCH_OFFSET, 4));
    // Entries move to the new table.
    steps.addAll(Arrays.asList(files.superblockInSteps(2, false)));
    steps.add(() -> files.root(Root.EPOCH_OFFSET, 5));
    steps.add(() -> files.link(0, LINKED, 0, 3));
    steps.add(() -> files.root(Root.EPOCH_OFFSET, 6));
    return steps;
  }

  /** Requires that the map has all regions and tables that the words of its epoch need. */
  private static void requireEnough(StoreSnapshot map, String how) {
    long epoch = map.epoch();
    StoreTables tables = map.superblock().tables();
    assertTrue(epoch < 2 || map.slotOf(0, 1) == 1, () -> how + ": the region that was linked");
    assertTrue(epoch >= 2 || map.slotOf(0, 0) == 0, () -> how + ": the region that was retired");
    assertTrue(
        epoch < 4 || tables.resizing() || tables.generation() == 2, () -> how + ": the new table");
    assertTrue(epoch >= 4 || tables.generation() == 1, () -> how + ": the old table");
    assertTrue(epoch < 6 || map.slotOf(0, 0) == 0, () -> how + ": the place that is used again");
  }

  @Test
  void aMapHasAtLeastWhatTheWordsOfItsEpochNeed() throws Exception {
    Random random = new Random(SEED);
    int[] epochs = new int[7];
    for (int run = 0; run < 20_000; run++) {
      SteppedFiles fresh = new SteppedFiles();
      files = fresh;
      fresh.link(0, LINKED, 0, 1);
      List<Runnable> steps = script();
      int[] next = {random.nextInt(steps.size())};
      steps.subList(0, next[0]).forEach(Runnable::run);
      int odds = 1 + random.nextInt(12);
      int most = 1 + random.nextInt(steps.size());
      try (MapReader reader = MapReader.open(fresh)) {
        fresh.beforeEachLoad(() -> {
          for (int i = 0; i < most && next[0] < steps.size() && random.nextInt(odds) == 0; i++) {
            steps.get(next[0]++).run();
          }
        });
        StoreSnapshot map = reader.read();
        if (map != null) {
          requireEnough(map, "seed " + SEED + ", run " + run + ", epoch " + map.epoch());
          epochs[(int) map.epoch()]++;
        }
      }
      assertEquals(0, fresh.open);
    }
    for (int epoch = 1; epoch <= 6; epoch++) {
      assertTrue(epochs[epoch] > 50, Arrays.toString(epochs));
    }
  }

  private int status() {
    return assertThrows(
            NotReadable.class,
            () -> {
              try (MapReader reader = MapReader.open(files)) {
                assertNotNull(reader.read());
              }
            })
        .status;
  }

  @Test
  void aStoreThatWasNeverServedIsNotRead() {
    files.root(Root.INCARNATION_OFFSET, 0);
    assertEquals(Status.UNRECOVERED, status());
  }

  @Test
  void norIsOneOfAnotherStartOfTheMachine() {
    files.root(Root.BOOT_OFFSET, SteppedFiles.BOOT + 1);
    assertEquals(Status.UNRECOVERED, status());
    // A store of a program that did not store the boot.
    files.root(Root.BOOT_OFFSET, 0);
    assertEquals(Status.UNRECOVERED, status());
  }

  @Test
  void whereThereIsNothingThereIsNoStore() {
    files.files.remove(SuperblockLayout.FILE);
    assertEquals(Status.ABSENT, status());
    assertEquals(0, files.open);
  }

  @Test
  void damageIsToldAsWhatItIs() {
    files.files.get(SuperblockLayout.FILE).fill((byte) 1);
    assertEquals(Status.REJECTED, status());
    files.superblock(1, false).run();
    files.files.get("regions").asSlice(0, 64).fill((byte) 0);
    assertEquals(Status.REJECTED, status());
    files.make("regions", 4096);
    assertEquals(Status.REJECTED, status());
    assertEquals(0, files.open);
  }

  /** A server that changes the map all the time is waited for, and not for ever. */
  @Test
  void whereNothingStaysThereIsNoMapYet() throws Exception {
    long[] epoch = {1};
    try (MapReader reader = MapReader.open(files)) {
      files.beforeEachLoad(() -> files.root(Root.EPOCH_OFFSET, ++epoch[0]));
      assertEquals(null, reader.read());
      files.beforeEachLoad(() -> {});
      assertEquals(epoch[0], reader.read().epoch());
    }
  }
}
