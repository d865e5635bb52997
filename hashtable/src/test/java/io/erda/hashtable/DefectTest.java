package io.erda.hashtable;

import static io.erda.hashtable.CrashTest.diedWithinDisplacement;
import static io.erda.hashtable.CrashTest.fillAndInherit;
import static io.erda.hashtable.DefectiveMemory.swapped;
import static io.erda.hashtable.DefectiveMemory.withoutDrain;
import static io.erda.hashtable.DefectiveMemory.withoutFlush;
import static io.erda.hashtable.DefectiveMemory.withoutStore;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.erda.hashtable.CrashExplorer.Driver;
import io.erda.pmem.PersistentMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that {@link CrashTest} finds a table that omits or misplaces one step of its protocol.
 * Every flush and every drain of insertion, emptying, displacement and recovery is omitted once,
 * each in a script in which it matters.
 */
class DefectTest {
  /** A script, the step that goes wrong in it, and how. */
  record Defect(
      String name,
      Consumer<Driver> setup,
      Consumer<Driver> script,
      UnaryOperator<PersistentMemory> memory) {
    @Override
    public String toString() {
      return name;
    }
  }

  static List<Defect> defects() {
    List<Defect> defects = new ArrayList<>();
    addFlushesAndDrainsOfDisplacement(defects);
    addInherited(defects);
    addRecovery(defects);
    addStores(defects);
    addEmptying(defects);
    addRemoval(defects);
    addStaging(defects);
    return defects;
  }

  @ParameterizedTest
  @MethodSource("defects")
  void isFound(Defect defect) {
    CrashExplorer explorer =
        new CrashExplorer(CrashTest.BUCKETS, CrashTest.SEED, defect.setup, defect.script)
            .scriptDefect(defect.memory);
    assertThrows(AssertionError.class, explorer::explore);
  }

  /** Four key words are flushed, then three version words. */
  private static void addStaging(List<Defect> defects) {
    Consumer<Driver> script = CrashTest::insertSeveral;
    defects.add(new Defect("flush of a staged key", CrashTest::fill, script, withoutFlush(1)));
    defects.add(new Defect("drain of staged keys", CrashTest::fill, script, withoutDrain(1)));
    defects.add(new Defect("flush of its word", CrashTest::fill, script, withoutFlush(5)));
    defects.add(new Defect("drain of their words", CrashTest::fill, script, withoutDrain(2)));
  }

  /**
   * Numbers count from the opening, which flushes and drains once, through two displacements (7
   * flushes, 5 drains each).
   */
  private static void addFlushesAndDrainsOfDisplacement(List<Defect> defects) {
    String[] flushes = {"record", "valid word", "destination", "source", "cleared valid word"};
    String[] drains = {"record", "valid word", "destination", "source", "cleared valid word"};
    for (int move = 0; move < 2; move++) {
      for (int i = 0; i < flushes.length; i++) {
        displacing(
            defects, "flush of " + flushes[i] + " in move " + move, withoutFlush(3 + 7 * move + i));
      }
      for (int i = 0; i < drains.length; i++) {
        displacing(
            defects, "drain of " + drains[i] + " in move " + move, withoutDrain(1 + 5 * move + i));
      }
    }
    displacing(defects, "flush of key word at insertion", withoutFlush(15));
    displacing(defects, "flush of version word at insertion", withoutFlush(16));
    displacing(defects, "drain of key word at insertion", withoutDrain(11));
    displacing(defects, "flush of version word at update", withoutFlush(17));
  }

  /** Numbers count from the opening, as above; of the first removal but the last. */
  private static void addRemoval(List<Defect> defects) {
    String[] flushes = {"record", "valid word", "entry", "cleared valid word"};
    for (int i = 0; i < 4; i++) {
      defects.add(removing("flush of " + flushes[i], withoutFlush(3 + i)));
      defects.add(removing("drain of " + flushes[i], withoutDrain(1 + i)));
    }
    defects.add(removing("intent", withoutStore(TableLayout.VALID_OFFSET, TableLayout.EMPTYING)));
  }

  private static Defect removing(String name, UnaryOperator<PersistentMemory> memory) {
    return new Defect(
        "no " + name + " at removal", CrashTest::fill, CrashTest::removeAndBringBack, memory);
  }

  private static void displacing(
      List<Defect> defects, String name, UnaryOperator<PersistentMemory> memory) {
    defects.add(new Defect("no " + name, CrashTest::fill, CrashTest::displaceAndGoOn, memory));
  }

  /** Adds defects that matter only when another process died without a drain. */
  private static void addInherited(List<Defect> defects) {
    defects.add(
        inherited(
            "flush of the destination before the intent",
            fillAndInherit(4),
            CrashTest::displace,
            withoutFlush(1)));
    defects.add(
        inherited(
            "flush of the source before the intent",
            fillAndInherit(4),
            CrashTest::displace,
            withoutFlush(2)));
    defects.add(
        inherited(
            "flush of a left entry at the destination",
            fillAndInherit(1),
            CrashTest::displace,
            withoutFlush(1)));
    defects.add(
        inherited(
            "drain of a left entry at the destination",
            fillAndInherit(1),
            CrashTest::displace,
            withoutDrain(1)));
    defects.add(
        inherited(
            "clearing of the left key word at the destination",
            fillAndInherit(1),
            CrashTest::displace,
            withoutStore(TableLayout.entryOffset(41), 0)));
    defects.add(
        inherited(
            "flush of a left entry to fill",
            CrashTest::fillAndInheritFree,
            CrashTest::bringBack,
            withoutFlush(1)));
    defects.add(
        inherited(
            "drain of a left entry to fill",
            CrashTest::fillAndInheritFree,
            CrashTest::bringBack,
            withoutDrain(1)));
    // Emptying slot 10 flushes 1 and 2, drains 1 and 2.
    defects.add(
        inherited(
            "flush of the key's left entry",
            CrashTest::fillAndInheritFree,
            CrashTest::bringBackBelow,
            withoutFlush(3)));
    defects.add(
        inherited(
            "drain of the key's left entry",
            CrashTest::fillAndInheritFree,
            CrashTest::bringBackBelow,
            withoutDrain(3)));
  }

  private static Defect inherited(
      String name,
      Consumer<Driver> setup,
      Consumer<Driver> script,
      UnaryOperator<PersistentMemory> memory) {
    return new Defect("inherited: no " + name, setup, script, memory);
  }

  private static void addRecovery(List<Defect> defects) {
    recovering(defects, "flush of the intent that was seen", 10, withoutFlush(0));
    recovering(defects, "drain of the intent that was seen", 10, withoutDrain(0));
    recovering(defects, "flush of the cleared intent that was seen", 25, withoutFlush(0));
    recovering(defects, "drain of the cleared intent that was seen", 25, withoutDrain(0));
    recovering(defects, "flush of the destination redone", 15, withoutFlush(1));
    recovering(defects, "drain of the destination redone", 15, withoutDrain(1));
    recovering(defects, "flush of the source redone", 15, withoutFlush(2));
    recovering(defects, "drain of the source redone", 15, withoutDrain(2));
    recovering(defects, "flush of the valid word after a redo", 15, withoutFlush(3));
    recovering(defects, "drain of the valid word after a redo", 15, withoutDrain(3));
    recovering(defects, "flush of the source tag alone", 19, withoutFlush(1));
    recovering(defects, "drain of the source tag alone", 19, withoutDrain(1));
    recovering(defects, "flush of the valid word after the source tag", 19, withoutFlush(2));
    recovering(defects, "drain of the valid word after the source tag", 19, withoutDrain(2));
    recovering(defects, "clearing of the intent", 19, withoutStore(TableLayout.VALID_OFFSET, 0));
  }

  private static void recovering(
      List<Defect> defects, String name, int event, UnaryOperator<PersistentMemory> memory) {
    defects.add(
        new Defect(
            "recovery: no " + name,
            diedWithinDisplacement(event),
            CrashTest::fillLeftSlot,
            memory));
  }

  private static void addStores(List<Defect> defects) {
    displacing(defects, "clearing of the intent", withoutStore(TableLayout.VALID_OFFSET, 0));
    long source = TableLayout.entryOffset(28);
    long destination = TableLayout.entryOffset(41);
    displacing(
        defects,
        "clearing of the source word",
        withoutStore(source + Entry.VERSION_WORD_OFFSET, 0));
    displacing(
        defects,
        "destination before source (source is cleared first)",
        swapped(
            (offset, value) -> offset == destination + Entry.VERSION_WORD_OFFSET,
            (offset, value) -> offset == source + Entry.VERSION_WORD_OFFSET && value == 0));
    displacing(
        defects,
        "record before valid word (valid word is stored first)",
        swapped(
            (offset, value) -> offset == TableLayout.SOURCE_OFFSET,
            (offset, value) -> offset == TableLayout.VALID_OFFSET));
    displacing(
        defects,
        "cleared source before cleared intent (intent is cleared first)",
        swapped(
            (offset, value) -> offset == source + Entry.VERSION_WORD_OFFSET && value == 0,
            (offset, value) -> offset == TableLayout.VALID_OFFSET && value == 0));
    long filled = TableLayout.entryOffset(15);
    displacing(
        defects,
        "key word before version word at insertion",
        swapped(
            (offset, value) -> offset == filled + Entry.KEY_WORD_OFFSET && value != 0,
            (offset, value) -> offset == filled + Entry.VERSION_WORD_OFFSET && value != 0));
  }

  private static void addEmptying(List<Defect> defects) {
    Consumer<Driver> empty = driver -> driver.empty(CrashTest.keyAtStart(driver, 5));
    long slot = TableLayout.entryOffset(5);
    defects.add(
        new Defect("no flush of the emptied word", CrashTest::fill, empty, withoutFlush(1)));
    defects.add(
        new Defect("no drain of the emptied word", CrashTest::fill, empty, withoutDrain(1)));
    defects.add(
        new Defect(
            "key word emptied first",
            CrashTest::fill,
            empty,
            swapped(
                (offset, value) -> offset == slot + Entry.VERSION_WORD_OFFSET,
                (offset, value) -> offset == slot + Entry.KEY_WORD_OFFSET)));
  }
}
