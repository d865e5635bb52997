package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class NeighbourhoodTest {
  private static final long SEED = Long.getLong("erda.seed", 1);
  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  @Test
  void findsEveryMatchInOrderAndNothingElse() {
    SplittableRandom random = new SplittableRandom(SEED);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment direct = arena.allocate(Neighbourhood.BYTES + 64, 8);
      MemorySegment heap = MemorySegment.ofArray(new byte[Neighbourhood.BYTES + 64]);
      for (int round = 0; round < 3000; round++) {
        MemorySegment segment = random.nextBoolean() ? direct : heap;
        long base = random.nextInt(65);
        long[][] entries = new long[Neighbourhood.ENTRIES][2];
        for (int i = 0; i < entries.length; i++) {
          entries[i][0] = random.nextInt(4);
          entries[i][1] = random.nextInt(3);
          segment.set(WORD, base + 16L * i, entries[i][0]);
          segment.set(WORD, base + 16L * i + 8, entries[i][1]);
        }
        for (long keyWord = 1; keyWord < 5; keyWord++) {
          int from = 0;
          for (int i = 0; i < entries.length; i++) {
            if (entries[i][0] == keyWord && entries[i][1] != 0) {
              assertEquals(
                  i,
                  Neighbourhood.nextMatch(segment, base, keyWord, from),
                  "replay with -Derda.seed=" + SEED);
              assertEquals(keyWord, Neighbourhood.keyWord(segment, base, i));
              assertEquals(entries[i][1], Neighbourhood.versionWord(segment, base, i));
              from = i + 1;
            }
          }
          assertEquals(
              -1,
              Neighbourhood.nextMatch(segment, base, keyWord, from),
              "replay with -Derda.seed=" + SEED);
        }
      }
    }
  }

  @Test
  void nothingIsFoundPastTheEnd() {
    MemorySegment segment = MemorySegment.ofArray(new byte[Neighbourhood.BYTES]);
    for (int i = 0; i < Neighbourhood.ENTRIES; i++) {
      segment.set(WORD, 16L * i, 7);
      segment.set(WORD, 16L * i + 8, 7);
    }
    assertEquals(15, Neighbourhood.nextMatch(segment, 0, 7, 15));
    assertEquals(-1, Neighbourhood.nextMatch(segment, 0, 7, 16));
  }

  @Test
  void lastNeighbourhoodEndsWithTheTable() {
    long buckets = 1024;
    assertEquals(4096, Neighbourhood.offset(1024, buckets));
    assertEquals(
        HashTable.bytesFor(buckets), Neighbourhood.offset(1023, buckets) + Neighbourhood.BYTES);
  }
}
