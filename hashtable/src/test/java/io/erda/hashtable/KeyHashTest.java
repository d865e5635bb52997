package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import net.openhft.hashing.LongHashFunction;
import org.junit.jupiter.api.Test;

class KeyHashTest {
  private static final long SEED = Long.getLong("erda.seed", 1);

  /** From XXH3's reference implementation: the empty input, seed 0. */
  @Test
  void knownValue() {
    assertEquals(
        0x2D06_8005_38D3_94C2L, new KeyHash(0).of(MemorySegment.ofArray(new byte[0]), 0, 0));
  }

  /**
   * Every length up to well past the largest block of the function, at every alignment, in both
   * kinds of memory.
   */
  @Test
  void heapNativeAndTheLibraryAgree() {
    SplittableRandom random = new SplittableRandom(SEED);
    byte[] bytes = new byte[2200];
    random.nextBytes(bytes);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment direct = arena.allocate(bytes.length, 8).copyFrom(MemorySegment.ofArray(bytes));
      for (long seed : new long[] {0, 1, -1, random.nextLong()}) {
        KeyHash hash = new KeyHash(seed);
        LongHashFunction library = LongHashFunction.xx3(seed);
        for (int length = 0; length < 2100; length += length < 300 ? 1 : 97) {
          int offset = random.nextInt(100);
          long expected = library.hashBytes(bytes, offset, length);
          String what =
              "length " + length + ", offset " + offset + ", replay with -Derda.seed=" + SEED;
          assertEquals(expected, hash.of(direct, offset, length), what);
          assertEquals(expected, hash.of(MemorySegment.ofArray(bytes), offset, length), what);
          assertEquals(
              expected, hash.of(MemorySegment.ofArray(bytes).asReadOnly(), offset, length), what);
          assertEquals(expected, hash.of(direct.asSlice(offset), 0, length), what);
          assertEquals(expected, hash.ofNative(direct.address() + offset, length), what);
        }
      }
    }
  }

  @Test
  void seedsDiffer() {
    MemorySegment key = MemorySegment.ofArray(new byte[] {1, 2, 3});
    assertNotEquals(new KeyHash(1).of(key, 0, 3), new KeyHash(2).of(key, 0, 3));
  }

  @Test
  void neverLeavesTheSegment() {
    KeyHash hash = new KeyHash(1);
    MemorySegment segment = MemorySegment.ofArray(new byte[16]);
    assertThrows(IndexOutOfBoundsException.class, () -> hash.of(segment, 1, 16));
    assertThrows(IndexOutOfBoundsException.class, () -> hash.of(segment, -1, 4));
    assertThrows(IndexOutOfBoundsException.class, () -> hash.of(segment, 0, -1));
    Arena arena = Arena.ofConfined();
    MemorySegment closed = arena.allocate(16);
    arena.close();
    assertThrows(IllegalStateException.class, () -> hash.of(closed, 0, 16));
  }
}
