package io.erda.rdma.rings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MappingsTest {
  private static final int BYTES = 1 << 16;

  @TempDir Path directory;

  private record Mapped(Mappings.Group group, MemorySegment memory) {}

  private Mapped map(Mappings mappings, String name) throws IOException {
    Path file = directory.resolve(name);
    Files.write(file, new byte[] {1});
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      MemorySegment memory =
          channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, mappings.arena());
      return new Mapped(mappings.made(), memory);
    }
  }

  private long mapped() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/maps")).stream()
        .filter(line -> line.contains(directory.toString()))
        .count();
  }

  /** Before, each mapping had its own arena, and closing an arena stops every thread of the JVM. */
  @Test
  void whatAConnectionMapsSharesTheArenaOfItsQueueFile() throws IOException {
    Set<Arena> arenas = new HashSet<>();
    try (Arena queue = Arena.ofShared();
        Mappings mappings = new Mappings(queue)) {
      for (int i = 0; i < 64; i++) {
        arenas.add(mappings.arena());
        map(mappings, "file-" + i);
      }
      assertEquals(Set.of(queue), arenas);
      assertEquals(64, mapped());
    }
    assertEquals(0, mapped());
  }

  @Test
  void aMappingThatEndsLetsItsFileGoAndNoOther() throws IOException {
    try (Arena queue = Arena.ofShared();
        Mappings mappings = new Mappings(queue)) {
      Mapped ends = map(mappings, "ends");
      Mapped stays = map(mappings, "stays");
      mappings.release(ends.group(), ends.memory());
      assertEquals(1, mapped());
      assertEquals(0, ends.memory().get(ValueLayout.JAVA_BYTE, 0));
      assertEquals(1, stays.memory().get(ValueLayout.JAVA_BYTE, 0));
    }
  }

  /** Otherwise the addresses of all that a long connection ever mapped would stay taken. */
  @Test
  void anArenaWhoseMappingsAllEndedIsClosed() throws IOException {
    try (Arena queue = Arena.ofShared();
        Mappings mappings = new Mappings(queue)) {
      List<Mapped> all = new ArrayList<>();
      for (int i = 0; i < 3 * 64; i++) {
        all.add(map(mappings, "file"));
      }
      Mapped last = all.removeLast();
      all.forEach(each -> mappings.release(each.group(), each.memory()));
      assertTrue(queue.scope().isAlive());
      assertFalse(all.get(64).memory().scope().isAlive());
      assertSame(last.memory().scope(), all.getLast().memory().scope());
      assertEquals(1, mapped());
    }
    assertEquals(0, mapped());
  }

  @Test
  void anArenaStaysWhileOneOfItsMappingsIsInUse() throws IOException {
    try (Arena queue = Arena.ofShared();
        Mappings mappings = new Mappings(queue)) {
      List<Mapped> all = new ArrayList<>();
      for (int i = 0; i < 3 * 64; i++) {
        all.add(map(mappings, "file"));
      }
      Mapped stays = all.get(100);
      all.subList(64, 128).stream()
          .filter(each -> each != stays)
          .forEach(each -> mappings.release(each.group(), each.memory()));
      assertEquals(2 * 64 + 1, mapped());
      assertEquals(1, stays.memory().get(ValueLayout.JAVA_BYTE, 0));
    }
    assertEquals(0, mapped());
  }

  @Test
  void anArenaThatIsNotFullTakesMoreWhenItsMappingsHaveEnded() throws IOException {
    try (Arena queue = Arena.ofShared();
        Mappings mappings = new Mappings(queue)) {
      for (int i = 0; i < 64; i++) {
        map(mappings, "file");
      }
      Mapped ends = map(mappings, "ends");
      mappings.release(ends.group(), ends.memory());
      assertEquals(1, map(mappings, "next").memory().get(ValueLayout.JAVA_BYTE, 0));
    }
  }
}
