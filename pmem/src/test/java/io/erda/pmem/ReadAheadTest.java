package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A get of a store twice as large as memory took milliseconds where the kernel reads megabytes
 * ahead: each page that was missing brought others along, which put out those that were needed.
 */
final class ReadAheadTest {
  private static final long LENGTH = 1 << 20;

  @TempDir private Path directory;

  private final List<String> told = new ArrayList<>();

  private record Told(String name, MemorySegment memory, List<String> told)
      implements ReadAhead.Mapping {
    @Override
    public void readAlone(boolean alone) {
      told.add(name + (alone ? " alone" : " ahead"));
    }
  }

  private Told mapping(String name, long bytes) {
    return new Told(name, Arena.ofAuto().allocate(bytes), told);
  }

  @Test
  void allOfThemAreReadAloneAsSoonAsTheyDoNotFit() {
    ReadAhead readAhead = new ReadAhead(100);
    Told small = mapping("small", 40);
    Told other = mapping("other", 60);
    readAhead.mapped(small);
    readAhead.mapped(other);
    assertEquals(List.of(), told);
    Told third = mapping("third", 1);
    readAhead.mapped(third);
    assertEquals(
        List.of("other alone", "small alone", "third alone"), told.stream().sorted().toList());
    told.clear();
    readAhead.mapped(mapping("fourth", 1));
    assertEquals(List.of("fourth alone"), told);
  }

  @Test
  void theyAreReadAheadAgainWhenThereIsRoom() {
    ReadAhead readAhead = new ReadAhead(100);
    Told large = mapping("large", 90);
    Told small = mapping("small", 20);
    readAhead.mapped(large);
    readAhead.mapped(small);
    told.clear();
    readAhead.unmapped(large);
    readAhead.unmapped(large);
    readAhead.mapped(mapping("third", 80));
    assertEquals(List.of("small ahead", "third ahead"), told.stream().sorted().toList());
  }

  /** The kernel is given advice for the files of a directory. */
  @Test
  void theKernelIsTold() throws IOException {
    try (MappedDirectory files =
        MappedDirectory.open(
            directory, MappedDirectory.Mode.PAGE_CACHE, new ReadAhead(2 * LENGTH))) {
      files.create("first", LENGTH);
      PersistentMemory second = files.create("second", LENGTH);
      assertEquals(List.of(false, false), alone("first", "second"));
      assertFalse(files.readsAlone());
      files.create("third", LENGTH);
      assertEquals(List.of(true, true, true), alone("first", "second", "third"));
      assertTrue(files.readsAlone());
      second.close();
      files.delete("second");
      files.open("third").close();
      assertEquals(List.of(true), alone("first"), "three mappings again");
      SegmentMemory fourth = (SegmentMemory) files.create("fourth", LENGTH);
      assertEquals(0, fourth.tellToRead(100, LENGTH - 100));
      fourth.readAlone(false);
      assertEquals(List.of(true, false), alone("first", "fourth"));
      fourth.readAlone(true);
      assertEquals(List.of(true, true), alone("first", "fourth"));
    }
  }

  @Test
  void toSayWhatIsLoadedAllocatesNothing() throws IOException {
    try (MappedDirectory files = MappedDirectory.open(directory)) {
      SegmentMemory memory = (SegmentMemory) files.create("memory", LENGTH);
      ReadAhead readAhead = new ReadAhead(0);
      readAhead.mapped(memory);
      ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      long least = Long.MAX_VALUE;
      for (int round = 0; round < 20; round++) {
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 1_000; i++) {
          readAhead.loading(memory.segment(), 4000, 1000);
          readAhead.loadingSoon(memory.segment(), 0, LENGTH);
        }
        least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
      }
      assertTrue(least < 1_000, least + " bytes for 2,000 calls");
    }
  }

  /** Whether a page of a file that is mapped once is read alone. */
  private List<Boolean> alone(String... names) throws IOException {
    List<Boolean> alone = new ArrayList<>();
    for (String name : names) {
      boolean found = false;
      boolean its = false;
      for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
        if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
          its = line.endsWith("/" + name) && line.contains(directory.toString());
        } else if (its && line.startsWith("VmFlags:")) {
          alone.add((line + " ").contains(" rr "));
          found = true;
          break;
        }
      }
      assertTrue(found, name + " is not mapped");
    }
    return alone;
  }
}
