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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What {@link HalvingCrashTest} finds: a halving, or its turning round, that leaves out one flush,
 * drain or store of its protocol is found out. Numbers count from the opening, which flushes and
 * drains each table once.
 */
class HalvingDefectTest {
  private static final UnaryOperator<PersistentMemory> SOUND = memory -> memory;

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

  static List<Defect> defects() {
    List<Defect> defects = new ArrayList<>();
    moving(defects, "flush of the stretch word", withoutFlush(1), SOUND);
    moving(defects, "drain of the stretch word", withoutDrain(1), SOUND);
    moving(defects, "flush of a staged key word", SOUND, withoutFlush(1));
    moving(defects, "drain of the staged key words", SOUND, withoutDrain(1));
    moving(defects, "flush of a copied version word", SOUND, withoutFlush(7));
    moving(defects, "drain of the copies", SOUND, withoutDrain(2));
    moving(defects, "flush of a MOVED", withoutFlush(3), SOUND);
    moving(defects, "drain of the MOVED", withoutDrain(2), SOUND);
    long second = TableLayout.entryOffset(1) + Entry.VERSION_WORD_OFFSET;
    moving(defects, "MOVED", withoutStore(second, VersionWord.MOVED), SOUND);
    moving(
        defects,
        "stretch word",
        withoutStore(TableLayout.STRETCH_OFFSET, new Stretch(0, 6).word()),
        SOUND);
    turning(defects, "freeing of a MOVED", withoutStore(second, 0));
    turning(defects, "flush of a freed MOVED", withoutFlush(2));
    // The last one: a drain that is left out before it is made up for by the next.
    turning(defects, "drain of the freed MOVED", withoutDrain(3));
    return defects;
  }

  @ParameterizedTest
  @MethodSource("defects")
  void isFound(Defect defect) {
    ResizingExplorer explorer =
        new ResizingExplorer(16, 8, Long.getLong("erda.seed", 1), defect.setup, defect.script)
            .defects(defect.ofOld, defect.ofNew);
    assertThrows(AssertionError.class, explorer::explore);
  }

  private static void moving(
      List<Defect> defects,
      String name,
      UnaryOperator<PersistentMemory> ofOld,
      UnaryOperator<PersistentMemory> ofNew) {
    defects.add(
        new Defect(name, DoublingCrashTest::fill, DoublingCrashTest::moveAndGoOn, ofOld, ofNew));
  }

  private static void turning(
      List<Defect> defects, String name, UnaryOperator<PersistentMemory> ofOld) {
    defects.add(
        new Defect(
            "turning: " + name,
            HalvingCrashTest::halveInPart,
            HalvingCrashTest::turnAndGoOn,
            ofOld,
            SOUND));
  }
}
