package io.erda.cleaner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.erda.logstore.Extent;
import io.erda.logstore.LeaseResult;
import io.erda.logstore.LogGeometry;
import io.erda.logstore.LogStore;
import io.erda.logstore.Region;
import io.erda.pmem.HeapDirectory;
import java.io.IOException;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests which region is cleaned first, which regions wait, and how large the log may be. */
class VictimsTest {
  private static final int REGION = 1 << 16;
  private static final int SEGMENT = 1 << 12;
  private static final long ANY_GAIN = 1;

  private LogStore log;
  private LiveBytes live;
  private Victims victims;

  @BeforeEach
  void open() throws IOException {
    log =
        LogStore.create(
            new HeapDirectory(), new LogGeometry(1, REGION, SEGMENT, 8), new UUID(1, 2));
    live = new LiveBytes(log, new NoEntries());
    for (int step = 0; step < NoEntries.STEPS; step++) {
      live.doWork();
    }
    assertTrue(live.known());
    victims = new Victims(log.linked(), live);
  }

  @AfterEach
  void close() {
    log.close();
  }

  /** Hands out space until so many regions are full, and the next one holds one extent. */
  private void fill(int regions) {
    while (log.regions().size() <= regions) {
      lease();
    }
  }

  private void lease() {
    Extent extent = ((LeaseResult.Leased) log.lease(0, SEGMENT - 64, SEGMENT - 64)).extent();
    log.end(extent);
  }

  private Region region(int index) {
    return log.regions().get(index);
  }

  private Region best() {
    return victims.best(ANY_GAIN, region -> !victims.isOpen(region));
  }

  @Test
  void ofTwoThatAreAsFullTheOlderOneIsCleaned() {
    fill(3);
    for (int i = 0; i < 3; i++) {
      live.set(region(i), REGION / 2);
    }
    assertSame(region(0), best());
  }

  /** (1 − u) × age / (1 + u): 0.6 × 4 / 1.4 is less than 0.9 × 3 / 1.1. */
  @Test
  void muchThatIsDeadOutweighsSomeAge() {
    fill(3);
    live.set(region(0), REGION * 4L / 10);
    live.set(region(1), REGION / 10);
    live.set(region(2), REGION * 4L / 10);
    assertSame(region(1), best());
    live.set(region(1), REGION * 3L / 10);
    assertSame(region(0), best(), "0.7 × 3 / 1.3 is less");
  }

  @Test
  void whatFreesTooLittleIsNotCleaned() {
    fill(1);
    live.set(region(0), REGION - 2 * SEGMENT);
    assertSame(region(0), best());
    assertNull(victims.best(REGION / 4, region -> !victims.isOpen(region)));
  }

  @Test
  void whereTheHeadAppendsIsOpenUntilItIsFull() {
    fill(1);
    assertFalse(victims.isOpen(region(0)));
    assertTrue(victims.isOpen(region(1)));
  }

  /** Space that was not handed out yet needs no cleaning. */
  @Test
  void theUnusedRestOfARegionIsNoGain() {
    lease();
    assertNull(victims.best(SEGMENT, region -> true));
    assertSame(region(0), victims.best(SEGMENT - 128, region -> true));
  }

  @Test
  void aRegionIsFreedWhenItsCopiesFitBehindWhatTheHeadAppendsTo() {
    fill(1);
    long rest = REGION - log.linked().appendPlace(region(1));
    live.set(region(0), rest - SEGMENT);
    assertTrue(victims.freesRegion(region(0)));
    live.set(region(0), rest - SEGMENT + 8);
    assertFalse(victims.freesRegion(region(0)), "a segment may be lost between the copies");
    live.set(region(0), 0);
    assertTrue(victims.freesRegion(region(0)), "there is nothing to copy");
    live.set(region(1), 8);
    assertFalse(victims.freesRegion(region(1)), "it can't be copied behind itself");
  }

  @Test
  void whatProvedTooLargeWaitsUntilASegmentLessLivesOrTheHeadAppendsElsewhere() {
    fill(1);
    live.set(region(0), 3 * SEGMENT);
    victims.tooLarge(region(0));
    assertFalse(victims.freesRegion(region(0)));
    live.set(region(0), 2 * SEGMENT + 8);
    assertFalse(victims.freesRegion(region(0)));
    live.set(region(0), 2 * SEGMENT);
    assertTrue(victims.freesRegion(region(0)));
    victims.tooLarge(region(0));
    assertFalse(victims.freesRegion(region(0)));
    fill(2);
    assertTrue(victims.freesRegion(region(0)));
  }

  @Test
  void whatGainedNothingIsRefusedUntilHalfOfTheGainMoreIsDead() {
    fill(1);
    int gainMin = REGION / 4;
    live.set(region(0), REGION / 2);
    victims.refuse(region(0), false);
    assertNull(victims.best(gainMin, region -> true));
    live.set(region(0), REGION / 2 - gainMin / 2 + 1);
    assertNull(victims.best(gainMin, region -> true));
    live.set(region(0), REGION / 2 - gainMin / 2);
    assertSame(region(0), victims.best(gainMin, region -> true));
    assertEquals(0, victims.damaged());
  }

  @Test
  void whatIsDamagedIsRefusedForGood() {
    fill(1);
    live.set(region(0), REGION / 2);
    victims.refuse(region(0), true);
    live.set(region(0), 0);
    assertNull(best());
    assertEquals(1, victims.damaged());
    victims.forget(region(0));
    assertSame(region(0), best());
    assertEquals(0, victims.damaged());
  }

  /** The space that a cleaning lost between its copies would be lost again by the next cleaning. */
  @Test
  void whatLiesBetweenCopiesIsNoGainWhileTheyLive() {
    fill(1);
    long used = REGION - Region.HEADER_BYTES;
    live.set(region(0), used - SEGMENT);
    victims.packed(region(0), used - SEGMENT, SEGMENT);
    assertNull(best());
    live.set(region(0), (used - SEGMENT) / 2);
    assertSame(region(0), victims.best(used / 2 - SEGMENT, region -> !victims.isOpen(region)));
    assertNull(victims.best(used / 2 + SEGMENT / 2, region -> !victims.isOpen(region)));
  }

  @Test
  void liveBytesAreKnownAfterAWholeSweepOfOneLayout() {
    NoEntries entries = new NoEntries();
    LiveBytes counted = new LiveBytes(log, entries);
    fill(1);
    assertEquals(-1, counted.of(region(0)));
    assertEquals(-1, counted.total());
    counted.doWork();
    entries.layout++;
    for (int step = 0; step < NoEntries.STEPS; step++) {
      assertFalse(counted.known());
      assertTrue(counted.doWork() > 0);
    }
    assertTrue(counted.known());
    assertEquals(1 + NoEntries.STEPS, entries.sweeps, "it began again");
    counted.add(region(0), 500);
    counted.add(region(1), 300);
    counted.add(region(0), -700);
    assertEquals(0, counted.of(region(0)), "an estimate is never negative");
    assertEquals(300, counted.total());
  }

  /** One region for each head, and so many that half of their bytes live. */
  @Test
  void theLogIsTooLargeWhenLessThanItsShareLives() {
    Footprint footprint = new Footprint(log.linked(), live, 50);
    fill(4);
    live.set(region(0), 2 * REGION);
    assertFalse(footprint.exceeded());
    assertEquals(1, footprint.pace());
    live.set(region(0), 2 * REGION - 8);
    assertTrue(footprint.exceeded());
    live.set(region(0), REGION / 2);
    assertEquals(12, footprint.pace(), "three regions too many, four steps for each");
    assertFalse(new Footprint(log.linked(), live, 0).exceeded(), "0: it may fill the capacity");
  }
}
