package io.erda.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.pmem.OutOfSpaceException;
import io.erda.pmem.PersistentMemory;
import io.erda.pmem.Survives;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

final class SimulatedMemoryTest {
  private static final ValueLayout.OfLong LONG = SimulatedFile.WORD;

  private static SimulatedDisk disk(long seed, PersistenceDomain domain) {
    return new SimulatedDisk(domain, Seeds.random(seed));
  }

  private static PersistentMemory create(SimulatedDisk disk, String name, long length) {
    try {
      SimulatedDirectory directory = disk.directory();
      PersistentMemory memory = directory.create(name, length);
      directory.sync();
      return memory;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long word(SimulatedDisk disk, String name, long offset) {
    try (PersistentMemory memory = disk.directory().open(name)) {
      return memory.segment().get(LONG, offset);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void drainedWordsSurvivePowerFailureAndOthersMayGoEitherWay() {
    Set<Long> seen = new HashSet<>();
    Set<Long> seenFlushed = new HashSet<>();
    Seeds.each(
        200,
        seed -> {
          SimulatedDisk disk = disk(seed, PersistenceDomain.MEMORY_CONTROLLER);
          PersistentMemory memory = create(disk, "a", 4096);
          memory.putLongRelease(0, 1);
          memory.flush(0, 8);
          memory.drain();
          memory.putLongRelease(64, 2);
          memory.flush(64, 8);
          memory.putLongRelease(128, 3);
          disk.powerFailure(Seeds.random(seed + 1000));
          assertEquals(1, word(disk, "a", 0));
          seenFlushed.add(word(disk, "a", 64));
          seen.add(word(disk, "a", 128));
          assertEquals(0, disk.unsettledWords());
        });
    if (Long.getLong("erda.seed") == null) {
      assertEquals(Set.of(0L, 2L), seenFlushed);
      assertEquals(Set.of(0L, 3L), seen);
    }
  }

  /** A late piece of a WRITE may fill up the last word of an object that is whole and durable. */
  @Test
  void whatFollowsAStretchInItsLastWordIsNoneOfIt() {
    SimulatedDisk disk = disk(1, PersistenceDomain.MEMORY_CONTROLLER);
    PersistentMemory memory = create(disk, "a", 64);
    memory.putLongRelease(8, 0x0102030405060708L);
    memory.flush(0, 16);
    memory.drain();
    memory.putLongRelease(8, 0x0102030400000708L);
    assertTrue(disk.settled("a", 0, 10));
    assertFalse(disk.settled("a", 0, 11));
    assertFalse(disk.settled("a", 0, 16));
    assertFalse(disk.settled("a", 0, 24));
    assertTrue(disk.settled("a", 16, 8));
  }

  @Test
  void flushTakesTheValueOfItsMoment() {
    Set<Long> seen = new HashSet<>();
    for (long seed = 1; seed < 200; seed++) {
      SimulatedDisk disk = disk(seed, PersistenceDomain.MEMORY_CONTROLLER);
      PersistentMemory memory = create(disk, "a", 64);
      memory.putLongRelease(0, 1);
      memory.flush(0, 8);
      memory.putLongRelease(0, 2);
      memory.drain();
      disk.powerFailure(Seeds.random(seed));
      seen.add(word(disk, "a", 0));
    }
    assertEquals(Set.of(1L, 2L), seen);
  }

  /**
   * The second store from byte 64 on is met, one further drain passes, and from then on all fail.
   */
  @Test
  void aDrainFailsAfterWhatWasAimedAt() {
    SimulatedDisk disk = disk(1, PersistenceDomain.MEMORY_CONTROLLER);
    PersistentMemory memory = create(disk, "aimed-at", 4096);
    PersistentMemory other = create(disk, "another", 4096);
    disk.failDrainAfter(new SimulatedDisk.Aim("aimed", 64, 128, 2, 1));
    memory.putLongRelease(64, 1);
    other.putLongRelease(64, 1);
    memory.putLongRelease(56, 1);
    memory.putLongRelease(128, 1);
    memory.drain();
    memory.drain();
    memory.putLongRelease(72, 1);
    memory.drain();
    assertFalse(disk.hasDrainFailed());
    assertThrows(UncheckedIOException.class, memory::drain);
    assertTrue(disk.hasDrainFailed());
    assertThrows(UncheckedIOException.class, memory::drain);
    other.drain();
  }

  @Test
  void drainedValueNeverGivesWayToAnOlderOne() {
    Seeds.each(
        500,
        seed -> {
          RandomGenerator random = Seeds.random(seed);
          SimulatedDisk disk = new SimulatedDisk(PersistenceDomain.MEMORY_CONTROLLER, random);
          PersistentMemory memory = create(disk, "a", 64);
          long stored = 0;
          long flushed = 0;
          long drained = 0;
          for (int i = 0; i < 40; i++) {
            switch (random.nextInt(4)) {
              case 0, 1 -> memory.putLongRelease(0, ++stored);
              case 2 -> {
                memory.flush(0, 8);
                flushed = stored;
              }
              default -> {
                memory.drain();
                drained = flushed;
              }
            }
          }
          disk.powerFailure(random);
          long now = word(disk, "a", 0);
          assertTrue(now >= drained && now <= stored, now + " of " + drained + ".." + stored);
        });
  }

  @Test
  void processCrashKeepsWhatWasVisible() {
    SimulatedDisk disk = disk(1, PersistenceDomain.PAGE_CACHE);
    PersistentMemory memory = create(disk, "a", 64);
    memory.putLongRelease(8, 7);
    disk.processCrash();
    assertEquals(7, word(disk, "a", 8));
    assertThrows(SimulatedCrash.class, () -> memory.putLongRelease(8, 9));
    assertThrows(SimulatedCrash.class, () -> memory.flush(8, 8));
    assertThrows(SimulatedCrash.class, memory::drain);
    assertEquals(7, word(disk, "a", 8));
  }

  @Test
  void flushBeforeAProcessCrashStillNeedsADrainAfterIt() {
    Set<Long> seen = new HashSet<>();
    for (long seed = 1; seed < 100; seed++) {
      SimulatedDisk disk = disk(seed, PersistenceDomain.MEMORY_CONTROLLER);
      PersistentMemory memory = create(disk, "a", 64);
      memory.putLongRelease(0, 1);
      memory.flush(0, 8);
      disk.processCrash();
      disk.powerFailure(Seeds.random(seed));
      seen.add(word(disk, "a", 0));
    }
    assertEquals(Set.of(0L, 1L), seen);
  }

  @Test
  void domainsPromiseWhatTheyAreNamedFor() {
    for (PersistenceDomain domain : PersistenceDomain.values()) {
      Set<Long> visible = new HashSet<>();
      Set<Long> drained = new HashSet<>();
      for (long seed = 1; seed < 100; seed++) {
        SimulatedDisk disk = disk(seed, domain);
        PersistentMemory memory = create(disk, "a", 64);
        assertEquals(domain.survives(), memory.survives());
        memory.putLongRelease(0, 1);
        memory.flush(0, 8);
        memory.drain();
        memory.putLongRelease(8, 1);
        disk.powerFailure(Seeds.random(seed));
        drained.add(word(disk, "a", 0));
        visible.add(word(disk, "a", 8));
      }
      boolean keepsVisible =
          domain.survives() == Survives.POWER_FAILURE && !domain.visibleBeforeDurable();
      assertEquals(keepsVisible ? Set.of(1L) : Set.of(0L, 1L), visible, domain.name());
      assertEquals(
          domain == PersistenceDomain.PAGE_CACHE ? Set.of(0L, 1L) : Set.of(1L),
          drained,
          domain.name());
    }
  }

  @Test
  void putCopiesAnyAlignment() {
    Seeds.each(
        50,
        seed -> {
          RandomGenerator random = Seeds.random(seed);
          PersistentMemory memory =
              create(disk(seed, PersistenceDomain.MEMORY_CONTROLLER), "a", 133);
          byte[] expected = new byte[133];
          byte[] source = new byte[200];
          for (int i = 0; i < 30; i++) {
            random.nextBytes(source);
            int length = random.nextInt(134);
            int from = random.nextInt(200 - length + 1);
            int to = random.nextInt(133 - length + 1);
            memory.put(to, MemorySegment.ofArray(source), from, length);
            System.arraycopy(source, from, expected, to, length);
            assertEquals(-1, memory.segment().mismatch(MemorySegment.ofArray(expected)));
          }
        });
  }

  @Test
  void crashStrikesInTheRequestedEventAndTearsIt() {
    Set<Long> wordsOfTheTornPut = new HashSet<>();
    for (long seed = 1; seed < 100; seed++) {
      SimulatedDisk disk = disk(seed, PersistenceDomain.PAGE_CACHE);
      PersistentMemory memory = create(disk, "a", 4096);
      disk.crashAfter(SimulatedDisk.Event.STORE, 2);
      memory.putLongRelease(0, 1);
      memory.flush(0, 8);
      MemorySegment ones = MemorySegment.ofArray(new long[64]).fill((byte) 0xff);
      assertThrows(SimulatedCrash.class, () -> memory.put(64, ones, 0, 512));
      assertTrue(disk.struck());
      assertThrows(SimulatedCrash.class, () -> disk.directory().sync());
      disk.processCrash();
      long stored = 0;
      for (int i = 0; i < 64; i++) {
        long value = word(disk, "a", 64 + 8 * i);
        assertTrue(value == 0 || value == -1);
        stored -= value;
      }
      wordsOfTheTornPut.add(stored);
      assertEquals(1, disk.statistics().crashes());
    }
    assertTrue(wordsOfTheTornPut.size() > 8, "how much of a put is there: " + wordsOfTheTornPut);
  }

  @Test
  void namesAreDurableAfterSyncOnly() {
    Set<List<String>> seen = new HashSet<>();
    Seeds.each(
        200,
        seed -> {
          SimulatedDisk disk = disk(seed, PersistenceDomain.MEMORY_CONTROLLER);
          try {
            SimulatedDirectory directory = disk.directory();
            directory.create("a", 8);
            directory.create("b", 8);
            directory.sync();
            directory.rename("a", "c");
            directory.delete("b");
            directory.create("d", 8);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
          disk.powerFailure(Seeds.random(seed));
          List<String> names = disk.names();
          assertTrue(names.contains("a") ^ names.contains("c"), names.toString());
          seen.add(names);
          disk.powerFailure(Seeds.random(seed + 1));
          assertEquals(names, disk.names());
        });
    if (Long.getLong("erda.seed") == null) {
      assertEquals(8, seen.size());
    }
  }

  @Test
  void renameReplacesInOneStepAndAMappingOutlivesItsName() throws IOException {
    SimulatedDisk disk = disk(1, PersistenceDomain.MEMORY_CONTROLLER);
    SimulatedDirectory directory = disk.directory();
    PersistentMemory old = directory.create("a", 8);
    PersistentMemory replacement = directory.create("b", 8);
    old.putLongRelease(0, 1);
    replacement.putLongRelease(0, 2);
    directory.rename("b", "a");
    assertEquals(List.of("a"), directory.names());
    assertEquals(2, word(disk, "a", 0));
    old.putLongRelease(0, 3);
    assertEquals(3, old.segment().get(LONG, 0));
    assertEquals(2, word(disk, "a", 0));
  }

  @Test
  void spaceLimitLeavesNothingBehind() throws IOException {
    SimulatedDisk disk = disk(1, PersistenceDomain.MEMORY_CONTROLLER);
    disk.limit(100);
    SimulatedDirectory directory = disk.directory();
    directory.create("a", 60);
    assertThrows(OutOfSpaceException.class, () -> directory.create("b", 41));
    assertFalse(directory.exists("b"));
    directory.delete("a");
    directory.create("b", 100);
  }

  @Test
  void oneOwnerAtATimeAndTheDeadOwnNothing() {
    SimulatedDisk disk = disk(1, PersistenceDomain.MEMORY_CONTROLLER);
    SimulatedDirectory first = disk.directory();
    assertTrue(first.lock());
    SimulatedDirectory second = disk.directory();
    assertFalse(second.lock());
    disk.processCrash();
    SimulatedDirectory third = disk.directory();
    assertTrue(third.lock());
    assertFalse(first.lock());
    first.close();
    assertFalse(disk.directory().lock());
    third.close();
    assertTrue(disk.directory().lock());
  }

  @Test
  void nicStoresAreCoveredByTheServersFlush() {
    Set<Long> unflushed = new HashSet<>();
    for (long seed = 1; seed < 100; seed++) {
      SimulatedDisk disk = disk(seed, PersistenceDomain.MEMORY_CONTROLLER);
      SimulatedMemory memory = (SimulatedMemory) create(disk, "a", 128);
      SimulatedMemory.landNicStore(memory.file(), 0, 5, -1);
      SimulatedMemory.landNicStore(memory.file(), 8, 0x1234, 0xff);
      assertEquals(0x34, memory.segment().get(LONG, 64));
      memory.flush(0, 64);
      memory.drain();
      disk.powerFailure(Seeds.random(seed));
      assertEquals(5, word(disk, "a", 0));
      unflushed.add(word(disk, "a", 64));
    }
    assertEquals(Set.of(0L, 0x34L), unflushed);
  }

  @Test
  void mediaFaults() throws IOException {
    SimulatedDisk disk = disk(1, PersistenceDomain.MEMORY_CONTROLLER);
    create(disk, "a", 32);
    disk.corrupt("a", 9, 0x80);
    assertEquals(0x8000, word(disk, "a", 8));
    disk.powerFailure(Seeds.random(1));
    assertEquals(0x8000, word(disk, "a", 8));
    disk.setLength("a", 12);
    assertEquals(12, disk.length("a"));
    disk.powerFailure(Seeds.random(2));
    assertEquals(12, disk.length("a"));
  }

  private static long length(SimulatedDisk disk, String name) {
    try {
      return disk.length(name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Lengthens a file of 4 KiB to 8 KiB, and stores behind what it had. */
  private static void lengthen(SimulatedDisk disk, SimulatedDirectory directory) {
    try {
      directory.lengthen("a", 8192);
      try (PersistentMemory memory = directory.open("a")) {
        memory.putLongRelease(8184, 7);
        memory.flush(8184, 8);
        memory.drain();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The process that makes it longer ends in the middle; a mapping of before stays one of it. */
  @Test
  void aFileThatWasToBecomeLongerHasAnyLengthInBetween() {
    Set<Long> lengths = new HashSet<>();
    Seeds.each(
        100,
        seed -> {
          SimulatedDisk disk = disk(seed, PersistenceDomain.MEMORY_CONTROLLER);
          create(disk, "a", 4096).putLongRelease(4088, 5);
          disk.crashAfter(SimulatedDisk.Event.DIRECTORY, 1 + seed % 2);
          assertThrows(SimulatedCrash.class, () -> lengthen(disk, disk.directory()));
          disk.processCrash();
          lengths.add(length(disk, "a"));
          assertEquals(5, word(disk, "a", 4088));
          lengthen(disk, disk.directory());
          assertEquals(8192, length(disk, "a"));
          assertEquals(5, word(disk, "a", 4088));
          assertEquals(0, word(disk, "a", 4096));
        });
    if (Long.getLong("erda.seed") == null) {
      assertTrue(lengths.contains(8192L), "never done");
      assertTrue(lengths.size() > 40, lengths + " are all lengths");
    }
  }

  @Test
  void aLengthSurvivesAPowerFailureWhereThatIsPromised() {
    Set<Long> lengths = new HashSet<>();
    Seeds.each(
        100,
        seed -> {
          SimulatedDisk disk = disk(seed, PersistenceDomain.MEMORY_CONTROLLER);
          create(disk, "a", 4096);
          lengthen(disk, disk.directory());
          disk.powerFailure(Seeds.random(seed + 1000));
          assertEquals(8192, length(disk, "a"));
          assertEquals(7, word(disk, "a", 8184));
          SimulatedDisk ordinary = disk(seed, PersistenceDomain.MEMORY_CONTROLLER);
          create(ordinary, "a", 4096);
          ordinary.ordinaryFiles();
          lengthen(ordinary, ordinary.directory());
          ordinary.powerFailure(Seeds.random(seed + 1000));
          lengths.add(length(ordinary, "a"));
        });
    if (Long.getLong("erda.seed") == null) {
      assertTrue(lengths.size() > 40, lengths + " are all lengths");
    }
  }
}
