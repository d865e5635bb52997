package io.erda.pmem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

final class DirtyRangesTest {
  private static final long FAR = 2 * DirtyRanges.GAP;

  @Test
  void growsToPagesAndJoinsNeighbours() {
    DirtyRanges ranges = new DirtyRanges();
    ranges.add(5000, 5001);
    assertRanges(ranges, 4096, 8192);
    ranges.add(FAR + 4096, FAR + 4097);
    assertRanges(ranges, 4096, 8192, FAR + 4096, FAR + 8192);
    ranges.add(0, 1);
    assertRanges(ranges, 0, 8192, FAR + 4096, FAR + 8192);
    ranges.add(DirtyRanges.GAP + 8192, DirtyRanges.GAP + 8193);
    assertRanges(ranges, 0, FAR + 8192);
  }

  /** Every byte that was added is covered, ranges are sorted, apart and few. */
  @Test
  void coversAllThatWasAdded() {
    Seeds.check(
        50,
        random -> {
          DirtyRanges ranges = new DirtyRanges();
          long space = random.nextLong(1, 1L << 32);
          long[] added = random.longs(200, 0, space).toArray();
          for (long at : added) {
            ranges.add(at, at + 1 + random.nextLong(100));
            assertTrue(ranges.count() <= DirtyRanges.LIMIT);
          }
          for (int i = 1; i < ranges.count(); i++) {
            assertTrue(ranges.start(i) > ranges.end(i - 1) + DirtyRanges.GAP);
          }
          for (long at : added) {
            assertTrue(covers(ranges, at), "not covered: " + at);
          }
          DirtyRanges taken = new DirtyRanges();
          taken.add(1, 2);
          taken.takeFrom(ranges);
          assertEquals(0, ranges.count());
          for (long at : added) {
            assertTrue(covers(taken, at), "not taken: " + at);
          }
        });
  }

  private static boolean covers(DirtyRanges ranges, long at) {
    for (int i = 0; i < ranges.count(); i++) {
      if (ranges.start(i) <= at && at < ranges.end(i)) {
        return true;
      }
    }
    return false;
  }

  private static void assertRanges(DirtyRanges ranges, long... expected) {
    assertEquals(expected.length, ranges.count() * 2);
    for (int i = 0; i < ranges.count(); i++) {
      assertEquals(expected[2 * i], ranges.start(i));
      assertEquals(expected[2 * i + 1], ranges.end(i));
    }
  }
}
