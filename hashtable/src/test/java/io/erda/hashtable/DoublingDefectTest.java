package io.erda.hashtable;

import java.util.List;

/** A doubling that leaves out one flush, drain or store, or whose recovery does, is found out. */
class DoublingDefectTest extends ResizingDefects {
  DoublingDefectTest() {
    super(2 * ResizingCrashContract.BUCKETS);
  }

  static List<Defect> defects() {
    return ofBothDirections();
  }
}
