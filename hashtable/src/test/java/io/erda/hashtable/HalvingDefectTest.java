package io.erda.hashtable;

import static io.erda.hashtable.DefectiveMemory.withoutDrain;
import static io.erda.hashtable.DefectiveMemory.withoutFlush;
import static io.erda.hashtable.DefectiveMemory.withoutStore;

import io.erda.pmem.PersistentMemory;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * A halving, or its turning round, that leaves out one flush, drain or store, or whose recovery
 * does, is found out.
 */
class HalvingDefectTest extends ResizingDefects {
  HalvingDefectTest() {
    super(ResizingCrashContract.BUCKETS / 2);
  }

  static List<Defect> defects() {
    List<Defect> defects = ofBothDirections();
    turning(defects, "freeing of a MOVED", withoutStore(SECOND, 0));
    turning(defects, "flush of a freed MOVED", withoutFlush(2));
    // The last one: a drain that is left out before it is made up for by the next.
    turning(defects, "drain of the freed MOVED", withoutDrain(3));
    return defects;
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
