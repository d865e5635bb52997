package io.erda.hashtable;

import static io.erda.hashtable.DefectiveMemory.withoutDrain;
import static io.erda.hashtable.DefectiveMemory.withoutFlush;
import static io.erda.hashtable.DefectiveMemory.withoutStore;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.erda.hashtable.ResizingExplorer.Driver;
import io.erda.pmem.PersistentMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that {@link ResizingCrashContract} finds a resizing that omits one flush, drain or store of
 * its protocol, or whose recovery does, in both directions. Numbers count from the opening, which
 * flushes and drains each table once.
 *
 * <p>A subclass has a static method {@code defects}, which begins with {@link #ofBothDirections}
 * and adds the defects of its direction.
 */
abstract class ResizingDefects {
  static final UnaryOperator<PersistentMemory> SOUND = memory -> memory;

  /** The version word of the second entry that is moved. */
  static final long SECOND = TableLayout.entryOffset(1) + Entry.VERSION_WORD_OFFSET;

  private final long newBuckets;

  ResizingDefects(long newBuckets) {
    this.newBuckets = newBuckets;
  }

  /** A script, and what goes wrong in it. */
  record Defect(
      String name,
      Consumer<Driver> setup,
      Consumer<Driver> script,
      UnaryOperator<PersistentMemory> ofOld,
      UnaryOperator<PersistentMemory> ofNew) {
    @Override
    public String toString() {
      return "no " + name;
    }
  }

  @ParameterizedTest
  @MethodSource("defects")
  void isFound(Defect defect) {
    ResizingExplorer explorer =
        explorer(defect.setup, defect.script).defects(defect.ofOld, defect.ofNew);
    assertThrows(AssertionError.class, explorer::explore);
  }

  /** The scripts that {@link ResizingCrashContract} does not try, or with other events. */
  @Test
  void withoutADefectNothingIsFound() {
    explorer(diedWithinMove(22), ResizingScripts::updateAndMove).explore();
    explorer(diedWithinMove(24), ResizingScripts::updateAndMove).explore();
    explorer(diedWithinRecovery(), ResizingDefects::moveOthers).explore();
  }

  private ResizingExplorer explorer(Consumer<Driver> setup, Consumer<Driver> script) {
    return new ResizingExplorer(
        ResizingCrashContract.BUCKETS, newBuckets, Long.getLong("erda.seed", 1), setup, script);
  }

  /** Those that both directions have; the list may be added to. */
  static List<Defect> ofBothDirections() {
    List<Defect> defects = new ArrayList<>();
    moving(defects, "flush of the stretch word", withoutFlush(1), SOUND);
    moving(defects, "drain of the stretch word", withoutDrain(1), SOUND);
    moving(defects, "flush of a staged key word", SOUND, withoutFlush(1));
    moving(defects, "drain of the staged key words", SOUND, withoutDrain(1));
    moving(defects, "flush of a copied version word", SOUND, withoutFlush(7));
    moving(defects, "drain of the copies", SOUND, withoutDrain(2));
    moving(defects, "flush of a MOVED", withoutFlush(3), SOUND);
    moving(defects, "drain of the MOVED", withoutDrain(2), SOUND);
    moving(defects, "MOVED", withoutStore(SECOND, VersionWord.MOVED), SOUND);
    long stretch = new Stretch(0, 6).word();
    moving(defects, "stretch word", withoutStore(TableLayout.STRETCH_OFFSET, stretch), SOUND);
    inherited(defects, "flush of a key left in the old table", withoutFlush(1));
    inherited(defects, "drain of a key left in the old table", withoutDrain(1));
    inherited(defects, "flush of the entries before they are copied", withoutFlush(4));
    recovering(defects, "flush of the stretch that was seen", 24, withoutFlush(1), SOUND);
    recovering(defects, "drain of the stretch that was seen", 24, withoutDrain(1), SOUND);
    recovering(defects, "flush of a freed copy", 22, SOUND, withoutFlush(1));
    recovering(defects, "drain of a freed copy", 22, SOUND, withoutDrain(1));
    recovering(defects, "freeing of a copy", 22, SOUND, withoutStore(SECOND + Entry.BYTES, 0));
    defects.add(
        new Defect(
            "flush of a copy that is seen to be free",
            diedWithinRecovery(),
            ResizingDefects::moveOthers,
            SOUND,
            withoutFlush(1)));
    defects.add(
        new Defect(
            "drain of the new table at the end of recovery",
            diedWithinRecovery(),
            ResizingDefects::moveOthers,
            SOUND,
            withoutDrain(1)));
    return defects;
  }

  private static void moving(
      List<Defect> defects,
      String name,
      UnaryOperator<PersistentMemory> ofOld,
      UnaryOperator<PersistentMemory> ofNew) {
    defects.add(
        new Defect(name, ResizingScripts::fill, ResizingScripts::moveAndGoOn, ofOld, ofNew));
  }

  private static void inherited(
      List<Defect> defects, String name, UnaryOperator<PersistentMemory> ofOld) {
    defects.add(
        new Defect(
            "inherited: " + name,
            ResizingScripts::fillAndInherit,
            ResizingScripts::moveInherited,
            ofOld,
            SOUND));
  }

  /** Recovers a stretch of three entries in which a process died before event {@code event}. */
  private static void recovering(
      List<Defect> defects,
      String name,
      int event,
      UnaryOperator<PersistentMemory> ofOld,
      UnaryOperator<PersistentMemory> ofNew) {
    defects.add(
        new Defect(
            "recovery: " + name,
            diedWithinMove(event),
            ResizingScripts::updateAndMove,
            ofOld,
            ofNew));
  }

  private static Consumer<Driver> diedWithinMove(int event) {
    return driver -> {
      ResizingScripts.fill(driver);
      driver.dieWithin(event, () -> driver.move(4));
    };
  }

  /**
   * Its recovery died too, right after it stored that the copy of key 2 is free. The entry in slot
   * 0 was pending and stayed.
   */
  private static Consumer<Driver> diedWithinRecovery() {
    return driver -> {
      driver.insertOld(driver.key(0, 0), true);
      driver.insertOld(driver.key(1, 1), false);
      driver.insertOld(driver.key(2, 2), false);
      driver.move(1);
      driver.dieWithin(16, () -> driver.move(3));
      driver.dieWithin(7, driver::open);
    };
  }

  /** Another stretch is moved, and its word replaces the first one's. */
  private static void moveOthers(Driver driver) {
    driver.commit(driver.key(0, 0));
    driver.move(1);
  }
}
