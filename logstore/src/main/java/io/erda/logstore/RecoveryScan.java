package io.erda.logstore;

/** Scans for the objects between the water marks, about which recovery decides. */
final class RecoveryScan {
  private final LinkedRegions linked;
  private final ObjectVisitor visitor;
  private final ObjectScan scan = new ObjectScan();

  RecoveryScan(LinkedRegions linked, ObjectVisitor visitor) {
    this.linked = linked;
    this.visitor = visitor;
  }

  /** See {@link LogStore#scan}. */
  long scan() {
    long looked = 0;
    for (Region region : linked.regions()) {
      looked += scan(linked.state(region));
    }
    return looked;
  }

  private long scan(RegionState state) {
    LogGeometry geometry = linked.geometry();
    Region region = state.region;
    long looked = 0;
    for (long from = state.low; from < state.high; ) {
      if (from >= state.copiesBegin && from < state.copiesEnd) {
        from = state.copiesEnd;
        continue;
      }
      long to = Math.min(state.high, geometry.segmentEnd(from));
      if (from < state.copiesBegin && state.copiesBegin < state.copiesEnd) {
        to = Math.min(to, state.copiesBegin);
      }
      scan.scan(
          region.memory().segment(),
          region.head(),
          region.generation(),
          geometry.offset(region.index(), from),
          from,
          to,
          (place, bytes) ->
              visitor.object(region, geometry.offset(region.index(), place), place, bytes));
      looked += to - from;
      from = to;
    }
    return looked;
  }
}
