package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A store that is overwritten many times its capacity. */
class CleaningTest {
  private static final long SEED = Long.getLong("erda.seed", 20261121L);
  private static final int REGION_BYTES = 1 << 18;
  private static final int CAPACITY_BYTES = 2 << 20;

  private static final ServerOptions SMALL =
      ServerOptions.DEFAULTS
          .withRegionBytes(REGION_BYTES)
          .withSegmentBytes(1 << 16)
          .withCapacityBytes(CAPACITY_BYTES)
          .withBuckets(1 << 14);

  @TempDir Path data;

  @ParameterizedTest
  @ValueSource(ints = {30, 60, 80})
  void aStoreIsOverwrittenManyTimesItsCapacity(int livePercent) throws IOException {
    Random random = new Random(SEED);
    int valueBytes = 1000;
    int keys = (int) ((long) CAPACITY_BYTES * livePercent / 100 / 1032);
    int[] versions = new int[keys];
    try (ErdaStore store = ErdaStore.open(data, SMALL);
        ErdaClient erda = store.client()) {
      for (int i = 0; i < keys; i++) {
        erda.put(key(i), value(i, 0, valueBytes));
      }
      for (long i = 0; i < 20L * CAPACITY_BYTES / valueBytes; i++) {
        int key = random.nextInt(keys);
        erda.put(key(key), value(key, ++versions[key], valueBytes));
        int other = random.nextInt(keys);
        assertArrayEquals(value(other, versions[other], valueBytes), erda.get(key(other)));
      }
      Map<String, Long> figures = erda.stats();
      assertTrue(figures.get("cleaner.cleanings") > 100, figures::toString);
      double copiedPerByte =
          (double) figures.get("cleaner.bytes.copied") / figures.get("objects.bytes.published");
      assertTrue(copiedPerByte < (livePercent > 60 ? 8 : 3), () -> copiedPerByte + " " + figures);
      assertTrue(diskBytes() < CAPACITY_BYTES + (1 << 20), () -> "disk " + diskBytes());
    }
    try (ErdaStore store = ErdaStore.open(data, SMALL);
        ErdaClient erda = store.client()) {
      for (int i = 0; i < keys; i++) {
        assertArrayEquals(value(i, versions[i], valueBytes), erda.get(key(i)));
      }
    }
    assertEquals(List.of(), StoreVerifier.verify(data).findings());
  }

  @Test
  void deletedKeysLeaveTheTableAndTheirSpaceComesBack() throws InterruptedException {
    try (ErdaStore store = ErdaStore.open(data, SMALL);
        ErdaClient erda = store.client()) {
      for (int i = 0; i < 1000; i++) {
        erda.put(key(i), new byte[1000]);
      }
      for (int i = 0; i < 1000; i++) {
        assertTrue(erda.delete(key(i)));
      }
      // A region with fewer dead bytes than a sixteenth of it is not worth a cleaning, and the last
      // tombstones may lie in one that was just begun.
      erda.put(key(0), new byte[REGION_BYTES / 8]);
      assertTrue(erda.delete(key(0)));
      long entries = erda.stats().get("table.entries");
      long swept = erda.stats().get("table.tombstones.emptied");
      assertTrue(entries + swept >= 1000, entries + " entries, " + swept + " swept");
      Map<String, Long> figures = erda.clean(-1);
      while (figures.get("cleaner.asked") != 0) {
        Thread.sleep(1);
        figures = erda.stats();
      }
      assertEquals(0, figures.get("table.entries"), figures::toString);
      assertTrue(figures.get("log.bytes.linked") <= REGION_BYTES, figures::toString);
      assertNull(erda.get(key(7)));
      erda.put(key(7), new byte[7]);
      assertEquals(7, erda.get(key(7)).length);
    }
  }

  private long diskBytes() {
    try (Stream<Path> files = Files.list(data)) {
      return files
          .filter(file -> file.getFileName().toString().matches("(region|spare|left)-.*"))
          .mapToLong(file -> file.toFile().length())
          .sum();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static byte[] key(int i) {
    return ("key" + i).getBytes();
  }

  private static byte[] value(int key, int version, int bytes) {
    byte[] value = new byte[bytes];
    new Random(31L * key + version).nextBytes(value);
    return value;
  }
}
