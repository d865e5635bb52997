package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class EntryTest {
  private static final long SEED = Long.getLong("erda.seed", 1);

  @Test
  void keyWordHoldsHeadAndTag() {
    long hash = 0xC3_23456789ABCDEFL;
    assertEquals(0xC3_23456789ABCDEFL, Entry.keyWord(hash, 256));
    assertEquals(0x00_23456789ABCDEFL, Entry.keyWord(hash, 1));
    assertEquals(0x03_23456789ABCDEFL, Entry.keyWord(hash, 4));
    assertEquals(3, Entry.headOf(Entry.keyWord(hash, 4)));
    assertEquals(0xEF, Entry.bucket(Entry.keyWord(hash, 4), 256));
  }

  @Test
  void keyWordIsNever0() {
    assertEquals(1, Entry.keyWord(0, 1));
    assertEquals(1, Entry.keyWord(0xFFL << 56, 1));
    assertNotEquals(0, Entry.keyWord(0xFFL << 56, 256));
  }

  @Test
  void headsAreEvenAndAFunctionOfTheHash() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int heads : new int[] {1, 2, 3, 7, 64, 100, 255, 256}) {
      int[] counts = new int[heads];
      for (int i = 0; i < 2560; i++) {
        long hash = (long) (i & 255) << 56 | random.nextLong() >>> 8;
        int head = Entry.head(hash, heads);
        assertEquals(head, Entry.headOf(Entry.keyWord(hash, heads)));
        counts[head]++;
      }
      for (int count : counts) {
        assertTrue(Math.abs(count - 2560.0 / heads) <= 10, heads + " heads: " + count);
      }
    }
  }

  @Test
  void doublingNeedsNoOtherBits() {
    long keyWord = Entry.keyWord(0x1234_5678_9ABC_DEF0L, 16);
    for (long buckets = 1; buckets <= 1L << 40; buckets *= 2) {
      long doubled = Entry.bucket(keyWord, 2 * buckets);
      assertTrue(
          doubled == Entry.bucket(keyWord, buckets)
              || doubled == Entry.bucket(keyWord, buckets) + buckets);
    }
  }

  @Test
  void wordsAreLittleEndian() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(32, 8);
      for (int i = 0; i < 16; i++) {
        memory.set(ValueLayout.JAVA_BYTE, 16 + i, (byte) (i + 1));
      }
      assertEquals(0x0807_0605_0403_0201L, Entry.keyWordAt(memory, 16));
      assertEquals(0x100F_0E0D_0C0B_0A09L, Entry.versionWordAt(memory, 16));
      MemorySegment heap = MemorySegment.ofArray(new long[4]);
      heap.set(ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN), 8, 42);
      assertEquals(42, Entry.versionWordAt(heap, 0));
    }
  }
}
