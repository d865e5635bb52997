package io.erda.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Each tag is in one stretch, however the table grows meanwhile. */
class ScanOrderTest {
  private static final int TAGS = 1 << 16;

  /**
   * Counts the tags of each stretch; a table that grows never makes one come twice, or not at all.
   */
  private static void run(long seed, int grows) {
    SplittableRandom random = new SplittableRandom(seed);
    int bits = random.nextInt(0, 12);
    long buckets = 1L << bits;
    int[] met = new int[TAGS];
    ScanOrder order = new ScanOrder(buckets);
    while (!order.isAtEnd()) {
      if (random.nextInt(100) < grows && buckets < TAGS) {
        buckets *= 2;
      }
      assertTrue(order.fits(buckets));
      boolean doubling = random.nextBoolean() && buckets < TAGS;
      order.take(buckets, doubling ? 2 * buckets : 0);
      int ofOld = requireTags(order, buckets, met, true);
      if (doubling) {
        // The ranges in the new table have tags that those in the old one had, and as many.
        assertEquals(ofOld, requireTags(order, 2 * buckets, met, false));
      }
      int ranges = order.ranges(buckets) + (doubling ? order.ranges(2 * buckets) : 0);
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
          met[(int) tag]--;
        }
      }
    }
  }

  @RepeatedTest(20)
  void takesEachTagOnceWhileTheTableGrows(RepetitionInfo repetition) {
    run(repetition.getCurrentRepetition(), repetition.getCurrentRepetition());
  }

  /** From one bucket to 65536 of them: a bucket of the base is cut, and cut again. */
  @Test
  void cutsBucketsOfATableThatHasGrownALot() {
    for (int seed = 100; seed < 120; seed++) {
      run(seed, 90);
    }
  }

  @Test
  void knowsATableThatIsOlderThanTheIteration() {
    ScanOrder order = new ScanOrder(64);
    assertFalse(order.fits(32));
    assertTrue(order.fits(128));
  }
}
