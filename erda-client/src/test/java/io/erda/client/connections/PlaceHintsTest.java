package io.erda.client.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.hashtable.VersionWord;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PlaceHintsTest {
  private final PlaceHints hints = new PlaceHints();

  @Test
  void remembersTheLastPlaceOfAKey() {
    assertEquals(VersionWord.NONE, hints.of(7));
    hints.learn(7, 1);
    assertEquals(1, hints.of(7));
    hints.learn(7, VersionWord.OFFSET_MAX);
    assertEquals(VersionWord.OFFSET_MAX, hints.of(7));
    assertEquals(VersionWord.NONE, hints.of(8));
  }

  @Test
  void twoKeysThatMeetKeepTheirs() {
    long one = 7;
    long other = 8;
    while (slot(other) != slot(one)) {
      other++;
    }
    hints.learn(one, 1);
    hints.learn(other, 2);
    assertEquals(1, hints.of(one));
    assertEquals(2, hints.of(other));
    hints.learn(one, 3);
    assertEquals(3, hints.of(one));
    assertEquals(2, hints.of(other));
  }

  /** The slot of a key word while there are 1024 slots. */
  private static long slot(long keyWord) {
    return keyWord * 0x9E37_79B9_7F4A_7C15L >>> 32 & 1023;
  }

  @Test
  void growsUntilMostKeysKeepTheirs() {
    int keys = 100_000;
    long seed = 31;
    for (int round = 0; round < 4; round++) {
      SplittableRandom random = new SplittableRandom(seed);
      for (int i = 1; i <= keys; i++) {
        hints.learn(random.nextLong(), i);
      }
    }
    int kept = 0;
    int wrong = 0;
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 1; i <= keys; i++) {
      int offset = hints.of(random.nextLong());
      wrong += offset != i && offset != VersionWord.NONE ? 1 : 0;
      kept += offset == i ? 1 : 0;
    }
    // Two of 10⁵ keys share all 32 bits about once.
    assertTrue(wrong < 20, wrong + " hints of other keys");
    assertTrue(kept > keys * 4 / 5, kept + " of " + keys);
    assertEquals(1 << 18, hints.slots());
  }

  @Test
  void fewKeysKeepItSmall() {
    for (int round = 0; round < 1000; round++) {
      for (int i = 1; i <= 100; i++) {
        hints.learn(i * 0x1234_5678_9ABCL, i);
      }
    }
    assertEquals(1024, hints.slots());
  }
}
