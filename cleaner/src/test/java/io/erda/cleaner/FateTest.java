package io.erda.cleaner;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.erda.hashtable.VersionWord;
import org.junit.jupiter.api.Test;

class FateTest {
  private static final int HERE = 40;
  private static final int ELSEWHERE = 72;
  private static final int COPY = 1000;

  private static final long NEWEST = VersionWord.first(HERE, false);
  private static final long UPDATED = VersionWord.update(NEWEST, ELSEWHERE, false);
  private static final long BEING_UPDATED = VersionWord.update(NEWEST, ELSEWHERE, true);

  @Test
  void theWordDecides() {
    assertEquals(Fate.COPY, Fate.of(NEWEST, HERE, false));
    assertEquals(Fate.EMPTY, Fate.of(NEWEST, HERE, true));
    assertEquals(Fate.LATER, Fate.of(VersionWord.first(HERE, true), HERE, false));
    assertEquals(Fate.FORGET, Fate.of(UPDATED, HERE, false));
    assertEquals(Fate.DEAD, Fate.of(NEWEST, ELSEWHERE, false));
  }

  @Test
  void anOlderVersionThatStillCountsIsCarriedAlongATombstoneToo() {
    assertEquals(Fate.COPY, Fate.of(BEING_UPDATED, HERE, false));
    assertEquals(Fate.COPY, Fate.of(BEING_UPDATED, HERE, true));
    long moved = Fate.moved(BEING_UPDATED, HERE, COPY, false);
    assertEquals(
        VersionWord.first(COPY, false) & ~(1L << 63), VersionWord.rollback(moved) & ~(1L << 63));
    assertEquals(ELSEWHERE, VersionWord.newest(moved));
    assertEquals(COPY, VersionWord.committed(moved));
  }

  @Test
  void anOlderVersionInTheVictimGoesWithTheNewestOne() {
    assertEquals(
        VersionWord.withNewest(UPDATED, COPY), Fate.moved(UPDATED, ELSEWHERE, COPY, false));
    long moved = Fate.moved(UPDATED, ELSEWHERE, COPY, true);
    assertEquals(COPY, VersionWord.newest(moved));
    assertEquals(VersionWord.NONE, VersionWord.older(moved));
  }
}
