package io.erda.hashtable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class VersionWordTest {
  private static final long SEED = Long.getLong("erda.seed", 1);
  private static final int MAX = VersionWord.OFFSET_MAX;

  @Test
  void firstVersion() {
    long word = VersionWord.first(5, false);
    assertEquals(0x8000_0005_0000_0000L, word);
    assertEquals(5, VersionWord.newest(word));
    assertEquals(VersionWord.NONE, VersionWord.older(word));
    assertEquals(5, VersionWord.committed(word));
    assertEquals(0x8000_0005_0000_0001L, VersionWord.first(5, true));
    assertEquals(VersionWord.NONE, VersionWord.committed(VersionWord.first(5, true)));
  }

  @Test
  void updateFlipsTheTagAndOverwritesTheOlderOffsetOnly() {
    long first = VersionWord.first(5, false);
    long second = VersionWord.update(first, 7, false);
    long third = VersionWord.update(second, 9, false);
    assertEquals(0x0000_0005_0000_000EL, second);
    assertEquals(0x8000_0009_0000_000EL, third);
    assertEquals(9, VersionWord.newest(third));
    assertEquals(7, VersionWord.older(third));
  }

  @Test
  void hasOffsetLooksAtBothVersionsAndAtNothingElse() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 100_000; i++) {
      int shift = random.nextInt(0, 31);
      int mask = MAX & -(1 << shift);
      int newest = random.nextInt(1, MAX);
      int older = random.nextInt(1, MAX);
      int other = random.nextInt(1, MAX);
      long word = VersionWord.update(VersionWord.first(older, false), newest, random.nextBoolean());
      assertTrue(VersionWord.hasOffset(word, mask, newest & mask));
      assertTrue(VersionWord.hasOffset(word, mask, older & mask));
      boolean named = (other & mask) == (newest & mask) || (other & mask) == (older & mask);
      assertEquals(named, VersionWord.hasOffset(word, mask, other & mask), "seed " + SEED);
    }
  }

  @Test
  void extremeOffsetsDoNotTouchEachOther() {
    for (int offset : new int[] {1, MAX - 1, MAX}) {
      for (int other : new int[] {1, MAX - 1, MAX}) {
        for (boolean pending : new boolean[] {false, true}) {
          long word = VersionWord.update(VersionWord.first(offset, false), other, pending);
          assertEquals(other, VersionWord.newest(word));
          assertEquals(offset, VersionWord.older(word));
          assertEquals(pending, VersionWord.pending(word));
          long next = VersionWord.update(VersionWord.commit(word), offset, pending);
          assertEquals(offset, VersionWord.newest(next));
          assertEquals(other, VersionWord.older(next));
          assertEquals(pending, VersionWord.pending(next));
        }
      }
    }
  }

  @Test
  void rollbackLeavesTheVersionBeforeAndNoOther() {
    long committed = VersionWord.update(VersionWord.first(5, false), 7, false);
    long rolledBack = VersionWord.rollback(VersionWord.update(committed, 9, true));
    assertEquals(7, VersionWord.newest(rolledBack));
    assertEquals(VersionWord.NONE, VersionWord.older(rolledBack));
    assertFalse(VersionWord.pending(rolledBack));
    assertEquals(committed >>> 63, rolledBack >>> 63);
    assertEquals(0, VersionWord.rollback(VersionWord.first(5, true)));
  }

  @Test
  void bothOffsetsTheSameAndPendingRollsBackToOne() {
    long word = VersionWord.withNewest(VersionWord.update(VersionWord.first(5, false), 7, true), 5);
    long rolledBack = VersionWord.rollback(word);
    assertEquals(5, VersionWord.newest(rolledBack));
    assertEquals(VersionWord.NONE, VersionWord.older(rolledBack));
  }

  @Test
  void whatIsNotAllowedThrows() {
    long pending = VersionWord.first(5, true);
    long committed = VersionWord.commit(pending);
    assertThrows(IllegalStateException.class, () -> VersionWord.update(pending, 7, false));
    assertThrows(IllegalStateException.class, () -> VersionWord.rollback(committed));
    assertThrows(IllegalArgumentException.class, () -> VersionWord.first(0, false));
    assertThrows(IllegalArgumentException.class, () -> VersionWord.update(committed, -1, false));
    assertThrows(
        IllegalArgumentException.class, () -> VersionWord.withNewest(committed, Integer.MIN_VALUE));
    assertThrows(IllegalArgumentException.class, () -> VersionWord.withOlder(committed, -1));
  }

  /** A word and a plain record of its expected contents go through the same random transitions. */
  @Test
  void agreesWithAModel() {
    SplittableRandom random = new SplittableRandom(SEED);
    long word = 0;
    int newest = 0;
    int older = 0;
    boolean pending = false;
    for (int i = 0; i < 100_000; i++) {
      int offset = 1 + random.nextInt(MAX);
      int step = random.nextInt(4);
      if (step == 0 && !pending) {
        pending = random.nextBoolean();
        older = newest;
        newest = offset;
        word = VersionWord.update(word, offset, pending);
      } else if (step == 1 && pending && random.nextBoolean()) {
        newest = older;
        older = 0;
        pending = false;
        word = VersionWord.rollback(word);
      } else if (step == 1) {
        pending = false;
        word = VersionWord.commit(word);
      } else if (step == 2 && newest != 0) {
        newest = offset;
        word = VersionWord.withNewest(word, offset);
      } else if (step == 3 && older != 0) {
        older = random.nextBoolean() ? 0 : offset;
        word = VersionWord.withOlder(word, older);
      }
      String state =
          "step " + i + ", replay with -Derda.seed=" + SEED + ": " + VersionWord.toString(word);
      assertEquals(newest, VersionWord.newest(word), state);
      assertEquals(older, VersionWord.older(word), state);
      assertEquals(pending, VersionWord.pending(word), state);
      assertEquals(pending ? older : newest, VersionWord.committed(word), state);
      assertEquals(newest == 0, word == 0, state);
    }
  }

  @Test
  void saysWhatItIs() {
    assertEquals("free", VersionWord.toString(0));
    String text = VersionWord.toString(VersionWord.update(VersionWord.first(5, false), 7, true));
    assertTrue(text.contains("newest 7 pending") && text.contains("older 5"), text);
  }

  /** A stopped writer may expect any of these words, and there is always another one. */
  @Test
  void severalWordsNameTheSameNewestVersion() {
    long first = VersionWord.first(8, false);
    long second = VersionWord.update(first, 40, false);
    long third = VersionWord.update(second, 72, false);
    for (long word : new long[] {first, second, third}) {
      assertEquals(word, VersionWord.mirrored(VersionWord.mirrored(word)));
      assertEquals(VersionWord.older(word), VersionWord.older(VersionWord.mirrored(word)));
      java.util.Set<Long> all = new java.util.HashSet<>();
      for (int i = 0; i < VersionWord.sameMax(); i++) {
        long same = VersionWord.same(word, i);
        assertEquals(VersionWord.newest(word), VersionWord.newest(same));
        assertEquals(VersionWord.newest(word), VersionWord.committed(same));
        long next = VersionWord.update(same, 104, false);
        assertEquals(104, VersionWord.newest(next));
        assertEquals(VersionWord.newest(word), VersionWord.older(next));
        all.add(same);
      }
      assertEquals(word == first ? 4 : 6, all.size());
      assertEquals(word, VersionWord.same(word, 0));
    }
  }
}
