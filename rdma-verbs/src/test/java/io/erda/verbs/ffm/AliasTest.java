package io.erda.verbs.ffm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An alias shows the bytes of its memory at another address. */
class AliasTest {
  private static final long BYTES = 300_000;

  @TempDir Path directory;

  private MemorySegment map(Arena arena) throws IOException {
    try (FileChannel file =
        FileChannel.open(
            directory.resolve("file"),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      return file.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena);
    }
  }

  @Test
  void itHasTheSameBytes() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = map(arena);
      Alias alias = Alias.of(memory);
      Alias another = Alias.of(memory);
      try {
        assertEquals(0, alias.address() & (1L << Alias.UNIT_BITS) - 1);
        assertEquals(0, alias.address() >>> 47);
        assertEquals(BYTES, alias.bytes());
        assertNotEquals(alias.address(), another.address());
        memory.set(ValueLayout.JAVA_LONG, 296_000, 42);
        for (Alias each : new Alias[] {alias, another}) {
          MemorySegment same = MemorySegment.ofAddress(each.address()).reinterpret(BYTES);
          assertEquals(42, same.get(ValueLayout.JAVA_LONG, 296_000));
        }
      } finally {
        alias.close();
        another.close();
      }
      assertEquals(42, memory.get(ValueLayout.JAVA_LONG, 296_000));
    }
  }

  @Test
  void itIsOfPagesThatAreShared() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = map(arena);
      assertThrows(IOException.class, () -> Alias.of(memory.asSlice(8)));
      MemorySegment own = arena.allocate(8192, 4096);
      assertThrows(VerbsException.class, () -> Alias.of(own.asSlice(0, 4096)));
    }
  }
}
