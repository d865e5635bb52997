package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.client.ErdaClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The size of a store's files follows its live bytes, whatever its capacity is. */
class FootprintTest {
  private static final long SEED = Long.getLong("erda.seed", 20261122L);
  private static final int REGION_BYTES = 1 << 20;
  private static final int VALUE_BYTES = 1000;

  /** Bytes that the object of a key and a value of these tests takes in the log. */
  private static final int OBJECT_BYTES = 1040;

  private static final ServerOptions LARGE =
      ServerOptions.DEFAULTS
          .withRegionBytes(REGION_BYTES)
          .withSegmentBytes(1 << 16)
          .withCapacityBytes(256 << 20)
          .withBuckets(1 << 14);

  @TempDir Path data;

  @Test
  void filesAreNeverMoreThanThreeTimesWhatLivesAndTwoRegions() throws IOException {
    Random random = new Random(SEED);
    int keys = 4000;
    int[] versions = new int[keys];
    long most = 3L * keys * OBJECT_BYTES + 2 * REGION_BYTES;
    try (ErdaStore store = ErdaStore.open(data, LARGE);
        ErdaClient erda = store.client()) {
      for (int i = 0; i < keys; i++) {
        erda.put(key(i), value(i, 0));
      }
      for (int i = 0; i < 150_000; i++) {
        int key = random.nextInt(keys);
        erda.put(key(key), value(key, ++versions[key]));
        if (i % 100 == 0) {
          assertArrayEquals(value(key, versions[key]), erda.get(key(key)));
          long disk = diskBytes();
          int put = i;
          assertTrue(disk <= most, () -> disk + " bytes after " + put + " puts " + erda.stats());
        }
      }
      assertTrue(erda.stats().get("cleaner.cleanings") > 50, () -> erda.stats().toString());
    }
    try (ErdaStore store = ErdaStore.open(data, LARGE);
        ErdaClient erda = store.client()) {
      for (int i = 0; i < keys; i++) {
        assertArrayEquals(value(i, versions[i]), erda.get(key(i)));
      }
    }
    assertEquals(List.of(), StoreVerifier.verify(data).findings());
  }

  @Test
  void aStoreThatShrinksGivesItsSpaceBack() throws InterruptedException {
    int keys = 16_000;
    int left = 400;
    try (ErdaStore store = ErdaStore.open(data, LARGE);
        ErdaClient erda = store.client()) {
      for (int i = 0; i < keys; i++) {
        erda.put(key(i), value(i, 0));
      }
      assertTrue(erda.stats().get("log.bytes.linked") >= (long) keys * OBJECT_BYTES);
      for (int i = left; i < keys; i++) {
        assertTrue(erda.delete(key(i)));
      }
      long end = System.nanoTime() + 60_000_000_000L;
      while (erda.stats().get("log.bytes.linked") > 3L * REGION_BYTES) {
        assertTrue(System.nanoTime() - end < 0, () -> erda.stats().toString());
        Thread.sleep(10);
      }
      for (int i = 0; i < left; i++) {
        assertArrayEquals(value(i, 0), erda.get(key(i)));
      }
    }
  }

  @Test
  void aStoreThatMayFillItsCapacityIsNotCleanedBefore() throws IOException {
    try (ErdaStore store = ErdaStore.open(data, LARGE.withLivePercent(0));
        ErdaClient erda = store.client()) {
      for (int i = 0; i < 20_000; i++) {
        erda.put(key(i % 100), value(i % 100, i));
      }
      assertEquals(0, erda.stats().get("cleaner.cleanings"));
      assertTrue(diskBytes() > 20_000L * OBJECT_BYTES);
    }
    assertThrows(IllegalArgumentException.class, () -> LARGE.withLivePercent(91));
    assertThrows(IllegalArgumentException.class, () -> LARGE.withLivePercent(-1));
  }

  private long diskBytes() {
    try (Stream<Path> files = Files.list(data)) {
      return files
          .filter(file -> file.getFileName().toString().matches("(region|spare|left)-.*"))
          .mapToLong(file -> file.toFile().length())
          .sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] key(int i) {
    return ByteBuffer.allocate(16).putInt(i).array();
  }

  private static byte[] value(int key, int version) {
    byte[] value = new byte[VALUE_BYTES];
    new Random(31L * key + version).nextBytes(value);
    return value;
  }
}
