package io.erda.logstore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.HeapDirectory;
import io.erda.pmem.MappedDirectory;
import io.erda.pmem.MemoryDirectory;
import io.erda.pmem.Survives;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On directories that a store uses: mapped files, and memory of this process. */
class LogStoreOnFilesTest {
  private static final LogGeometry GEOMETRY = new LogGeometry(3, 1 << 20, 64 << 10, 16);
  private static final UUID STORE = new UUID(1, 2);
  private static final long SEED = Long.getLong("erda.seed", 20261120);

  /** A directory that is opened again and again. */
  private interface Openings {
    MemoryDirectory open() throws IOException;
  }

  @Test
  void objectsAreFoundAfterReopeningMappedFiles(@TempDir Path path) throws IOException {
    objectsAreFoundAfterReopening(() -> MappedDirectory.open(path));
  }

  @Test
  void objectsAreFoundAfterReopeningHeapMemory() throws IOException {
    try (HeapDirectory directory = new HeapDirectory(Long.MAX_VALUE, Survives.POWER_FAILURE)) {
      objectsAreFoundAfterReopening(directory::anotherView);
    }
  }

  /** Closes the directory under the log, as the end of a process does. */
  private static void objectsAreFoundAfterReopening(Openings openings) throws IOException {
    RandomGenerator random = new SplittableRandom(SEED);
    try (MemoryDirectory directory = openings.open()) {
      LogStore.create(directory, GEOMETRY, STORE).close();
    }
    Map<Long, Integer> unsettled = new HashMap<>();
    for (int life = 0; life < 4; life++) {
      try (MemoryDirectory directory = openings.open()) {
        LogStore log = LogStore.open(directory, GEOMETRY, STORE);
        requireFound(log, unsettled);
        log.closeMarks();
        unsettled.clear();
        for (int i = 0; i < 60; i++) {
          Extent extent =
              assertInstanceOf(LeaseResult.Leased.class, log.lease(i % 3, 3000, 9000)).extent();
          write(extent, random.nextInt(2900), unsettled);
          if (i % 4 == 0) {
            log.settle(extent, extent.end());
            log.end(extent);
            unsettled.remove(key(extent.region(), extent.place()));
          }
        }
        assertEquals(45, unsettled.size());
      }
    }
  }

  private static long key(Region region, long place) {
    return (long) region.head() << 32 | GEOMETRY.offset(region.index(), place);
  }

  private static void requireFound(LogStore log, Map<Long, Integer> expected) {
    Map<Long, Integer> found = new HashMap<>();
    log.scan((region, offset, place, bytes) -> found.put(key(region, place), bytes));
    assertTrue(
        found.entrySet().containsAll(expected.entrySet()), () -> "replay with -Derda.seed=" + SEED);
  }

  private static void write(Extent extent, int valueLength, Map<Long, Integer> written) {
    Region region = extent.region();
    MemorySegment buffer = MemorySegment.ofArray(new byte[3000]);
    MemorySegment content = MemorySegment.ofArray(new byte[3000]);
    int mix =
        ObjectChecksum.positionMix(
            region.head(), region.generation(), GEOMETRY.offset(region.index(), extent.place()));
    int bytes =
        new ObjectWriter(buffer).write(0, content, 0, 20, content, 0, valueLength, false, mix);
    region.memory().put(extent.place(), buffer, 0, bytes);
    assertTrue(region.checksum().valid(extent.place(), extent.length(), mix));
    written.put(key(region, extent.place()), 30 + valueLength);
  }

  @Test
  void aDirectoryWithoutRoomGivesAValueAndGoesOn() throws IOException {
    long room = RegionTable.bytes(GEOMETRY) + 2 * GEOMETRY.regionBytes();
    try (HeapDirectory directory = new HeapDirectory(room, Survives.PROCESS_CRASH);
        LogStore log = LogStore.create(directory, GEOMETRY, STORE)) {
      log.lease(0, 16, 16);
      log.lease(1, 16, 16);
      assertInstanceOf(LeaseResult.DiskFull.class, log.lease(2, 16, 16));
      assertInstanceOf(LeaseResult.Leased.class, log.lease(1, 16, 16));
    }
  }

  /** A put and a get of the steady state, as far as they happen here. */
  @Test
  void writingCheckingAndSettlingAllocateNothing(@TempDir Path path) throws IOException {
    try (MemoryDirectory directory = MappedDirectory.open(path);
        LogStore log = LogStore.create(directory, new LogGeometry(1, 8 << 20, 8 << 20, 1), STORE)) {
      Extent extent =
          assertInstanceOf(LeaseResult.Leased.class, log.lease(0, 1 << 20, 1 << 20)).extent();
      MemorySegment buffer = MemorySegment.ofArray(new byte[2048]);
      ObjectWriter writer = new ObjectWriter(buffer);
      MemorySegment key = MemorySegment.ofArray(new byte[24]);
      MemorySegment value = MemorySegment.ofArray(new byte[1024]);
      com.sun.management.ThreadMXBean threads =
          (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
      List<Long> allocated = new ArrayList<>();
      for (int round = 0; round < 30; round++) {
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 2000; i++) {
          putAndGet(log, extent, writer, buffer, key, value, extent.place() + i % 100 * 1064L);
        }
        allocated.add(threads.getCurrentThreadAllocatedBytes() - before);
      }
      // The compiler and the first use of the bean allocate only in early rounds; a byte for each
      // call would be visible in every round.
      assertTrue(
          allocated.subList(10, 30).stream().anyMatch(bytes -> bytes < 2000), allocated::toString);
    }
  }

  private static void putAndGet(
      LogStore log,
      Extent extent,
      ObjectWriter writer,
      MemorySegment buffer,
      MemorySegment key,
      MemorySegment value,
      long place) {
    LogGeometry geometry = log.geometry();
    int offset = geometry.offset(extent.region().index(), place);
    Region region = log.region(0, offset);
    int mix = ObjectChecksum.positionMix(region.head(), region.generation(), offset);
    int bytes = writer.write(0, key, 0, 24, value, 0, 1024, false, mix);
    region.memory().put(place, buffer, 0, bytes);
    if (!region.checksum().valid(place, geometry.room(place), mix)
        || !ObjectLayout.keyEquals(region.memory().segment(), place, key, 0, 24)) {
      throw new AssertionError(place);
    }
    log.settle(extent, place);
  }
}
