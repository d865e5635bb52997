package io.erda.client.iteration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Each tag is in exactly one stretch, even if the table grows and shrinks during the iteration. */
class ScanOrderTest {
  private static final int TAGS = 1 << 16;

  /**
   * Counts the tags of each stretch; a table that grows, or shrinks, never makes one come twice, or
   * not at all.
   */
  private static void run(long seed, int grows, int shrinks) {
    SplittableRandom random = new SplittableRandom(seed);
    int bits = random.nextInt(0, 12);
    long buckets = 1L << bits;
    int[] met = new int[TAGS];
    ScanOrder order = new ScanOrder(buckets);
    while (!order.isAtEnd()) {
      if (random.nextInt(100) < grows && buckets < TAGS) {
        buckets *= 2;
      }
      if (random.nextInt(100) < shrinks && buckets > 1) {
        buckets /= 2;
      }
      long next =
          random.nextBoolean()
              ? 0
              : random.nextBoolean() && buckets > 1 ? buckets / 2 : Math.min(TAGS, 2 * buckets);
      next = next == buckets ? 0 : next;
      order.take(buckets, next);
      int ofOld = requireTags(order, buckets, met, true);
      if (next > 0) {
        // The ranges in the new table have tags that those in the old one had, and as many.
        assertEquals(ofOld, requireTags(order, next, met, false));
      }
      int ranges = order.ranges(buckets) + (next > 0 ? order.ranges(next) : 0);
      assertTrue(ranges <= ScanOrder.RANGES_MAX);
      assertTrue(ranges * order.slots() <= ScanOrder.SLOTS_MAX);
      if (random.nextInt(4) > 0) {
        order.taken();
      } else {
        forget(order, buckets, met);
        order.tooLong();
      }
    }
    for (int tag = 0; tag < TAGS; tag++) {
      assertEquals(1, met[tag], "seed " + seed + ", tag " + Integer.toHexString(tag));
    }
  }

  private static int requireTags(ScanOrder order, long buckets, int[] met, boolean count) {
    int tags = 0;
    for (int range = 0; range < order.ranges(buckets); range++) {
      for (int i = 0; i < order.count(); i++) {
        long home = order.bucket(range) + i;
        assertTrue(home >= 0 && home < buckets);
        for (long tag = home; tag < TAGS; tag += buckets) {
          if (order.isTaken(tag)) {
            continue;
          }
          met[(int) tag] += count ? 1 : 0;
          assertEquals(1, met[(int) tag]);
          tags++;
        }
      }
    }
    return tags;
  }

  private static void forget(ScanOrder order, long buckets, int[] met) {
    for (int range = 0; range < order.ranges(buckets); range++) {
      for (int i = 0; i < order.count(); i++) {
        for (long tag = order.bucket(range) + i; tag < TAGS; tag += buckets) {
          met[(int) tag] -= order.isTaken(tag) ? 0 : 1;
        }
      }
    }
  }

  @RepeatedTest(20)
  void takesEachTagOnceWhileTheTableGrows(RepetitionInfo repetition) {
    run(repetition.getCurrentRepetition(), repetition.getCurrentRepetition(), 0);
  }

  /** From one bucket to 65536 of them: a bucket of the base is cut, and cut again. */
  @Test
  void cutsBucketsOfATableThatHasGrownALot() {
    for (int seed = 100; seed < 120; seed++) {
      run(seed, 90, 0);
    }
  }

  @RepeatedTest(20)
  void takesEachTagOnceWhileTheTableGrowsAndShrinks(RepetitionInfo repetition) {
    int often = repetition.getCurrentRepetition();
    run(1000 + often, 3 * often, 1 + often);
  }

  /** A table of 2^16 buckets that becomes one of 16 is not gone over 4096 times. */
  @Test
  void goesOverTheSmallTableOnce() {
    ScanOrder order = new ScanOrder(1 << 16);
    for (int i = 0; i < 4; i++) {
      order.take(1 << 16, 0);
      order.taken();
    }
    int stretches = 0;
    for (; !order.isAtEnd(); stretches++) {
      order.take(16, 0);
      order.taken();
    }
    assertTrue(stretches <= 16, stretches + " stretches of 16 buckets");
  }

  @Test
  void knowsATableThatIsSmallerThanBefore() {
    ScanOrder order = new ScanOrder(64);
    assertFalse(order.fits(32, 0));
    assertFalse(order.fits(64, 32));
    assertTrue(order.fits(64, 128));
    assertTrue(order.fits(128, 0));
  }
}
