package io.erda.cleaner;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class PlaceSetTest {
  private static final long SEED = Long.getLong("erda.seed", 20261121L);

  @Test
  void placesComeOutInRisingOrderOnceEach() {
    Random random = new Random(SEED);
    for (int run = 0; run < 200; run++) {
      long regionBytes = 1L << random.nextInt(16, 27);
      PlaceSet set = new PlaceSet(regionBytes);
      for (int again = 0; again < 2; again++) {
        TreeSet<Long> expected = new TreeSet<>();
        for (int i = random.nextInt(200); i > 0; i--) {
          long place = random.nextLong(regionBytes) & -8;
          set.add(place);
          expected.add(place);
        }
        assertEquals(expected.size(), set.size(), "-Derda.seed=" + SEED);
        for (long place : expected) {
          long[] first = new long[7];
          int count = set.lowest(first);
          long[] due = expected.tailSet(place).stream().mapToLong(x -> x).limit(7).toArray();
          assertArrayEquals(due, Arrays.copyOf(first, count), "-Derda.seed=" + SEED);
          assertEquals(place, set.next(0), "-Derda.seed=" + SEED);
          assertEquals(place, set.take(), "-Derda.seed=" + SEED);
        }
        assertEquals(0, set.lowest(new long[7]));
        assertEquals(-1, set.take());
        assertEquals(-1, set.next(0));
      }
    }
  }
}
