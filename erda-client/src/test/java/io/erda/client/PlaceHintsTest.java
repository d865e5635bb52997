package io.erda.client;

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
    assertTrue(kept > keys / 2, kept + " of " + keys);
  }

  @Test
  void fewKeysKeepItSmall() {
    for (int round = 0; round < 1000; round++) {
      for (int i = 1; i <= 100; i++) {
        hints.learn(i * 0x1234_5678_9ABCL, i);
      }
    }
    assertTrue(hints.slots() <= 2048, hints.slots() + " slots");
  }
}
