package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class MappedArenaTest {
  /** An arena that ends as one does whose mapping the kernel does not take back. */
  private static Arena withMapping(Exception error) {
    Arena arena = Arena.ofShared();
    MemorySegment.ofAddress(1 << 20)
        .reinterpret(
            1,
            arena,
            unused -> {
              throw MappedArenaTest.<RuntimeException>undeclared(error);
            });
    return arena;
  }

  @SuppressWarnings("unchecked")
  private static <E extends Exception> E undeclared(Exception error) throws E {
    throw (E) error;
  }

  @Test
  void aRangeThatTheKernelDoesNotTakeBackIsLeftBehind() {
    Arena arena = withMapping(new IOException("Cannot allocate memory"));
    MappedArena.close(arena);
    assertFalse(arena.scope().isAlive());
  }

  @Test
  void whatElseFailsIsThrown() {
    Arena arena = withMapping(new IllegalArgumentException("of somebody else"));
    assertThrows(IllegalArgumentException.class, () -> MappedArena.close(arena));
  }

  @Test
  void endsAnArenaOnce() {
    Arena arena = Arena.ofShared();
    MappedArena.close(arena);
    assertThrows(IllegalStateException.class, () -> MappedArena.close(arena));
  }
}
