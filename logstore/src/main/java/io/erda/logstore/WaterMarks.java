package io.erda.logstore;

/**
 * Maintains the water marks of all regions, between which recovery scans. One thread.
 *
 * <p>The high-water mark is durable before a place above it is handed out. The low-water mark
 * follows the committed and durable objects, is stored when it has moved by about 256 KiB, and is
 * not drained. A mark that is too low, because it was not stored yet or was lost, only makes
 * recovery scan more places. Recovery commits an object only if its key's word is pending and names
 * exactly this place, and that does not depend on the mark. A mark must never be too high; it is
 * computed from durable objects, so it may become durable at any time.
 */
final class WaterMarks {
  /** How far ahead the high-water mark is stored. */
  private static final int HIGH_STEP_BYTES_MAX = 1 << 20;

  /** How far the low-water mark may lag behind before it is stored. */
  private static final int LOW_STEP_BYTES_MAX = 256 << 10;

  private final RegionTable table;
  private final LinkedRegions linked;
  private final long regionBytes;
  private final int highStepBytes;
  private final int lowStepBytes;

  WaterMarks(RegionTable table, LinkedRegions linked) {
    this.table = table;
    this.linked = linked;
    this.regionBytes = linked.geometry().regionBytes();
    this.highStepBytes = Math.min(HIGH_STEP_BYTES_MAX, linked.geometry().segmentBytes());
    this.lowStepBytes = Math.min(LOW_STEP_BYTES_MAX, highStepBytes);
  }

  /** Returns the high-water mark to store for space up to {@code end}. */
  long stepAbove(long end) {
    return Math.min(regionBytes, (end + highStepBytes - 1) & -(long) highStepBytes);
  }

  /** Makes sure that the high-water mark lies at or above {@code end}, durably. */
  void cover(RegionState state, long end) {
    if (end > state.high) {
      raiseHigh(state, end);
    }
    assert end <= state.high && state.high <= regionBytes : state + ": high mark " + state.high;
  }

  private void raiseHigh(RegionState state, long end) {
    long high = stepAbove(end);
    assert high > state.high : state + ": high mark from " + state.high + " to " + high;
    table.storeHigh(state.region.slot(), high);
    table.drain();
    state.high = high;
  }

  /** Seals a region: no more space in it is handed out, and its rest is a hole. */
  void seal(RegionState state) {
    state.append = regionBytes;
    lowMoved(state);
  }

  /**
   * Stores the low-water mark when it moved far enough, or to the place where it stays in a full
   * region.
   */
  void lowMoved(RegionState state) {
    long settled = state.settled();
    if (settled - state.low >= lowStepBytes
        || (settled == state.high && state.append == regionBytes)) {
      storeLow(state, settled);
    }
  }

  /** Stores every low-water mark that moved, flushed, not drained. */
  void storeLowMarks() {
    linked.forEach(state -> storeLow(state, state.settled()));
  }

  private void storeLow(RegionState state, long settled) {
    assert state.low <= settled && settled <= state.high
        : state + ": low mark from " + state.low + " to " + settled + ", high " + state.high;
    if (settled != state.low) {
      table.storeLow(state.region.slot(), settled);
      state.low = settled;
    }
  }

  /** Closes the marks of every region at high, durably. */
  void closeAll() {
    linked.forEach(this::close);
    table.drain();
  }

  private void close(RegionState state) {
    // The opening set the place of appending to the high-water mark, and made that mark durable. So
    // a low-water mark that survives a power failure is never above the high-water mark.
    assert state.append >= state.high : state + " appends at " + state.append;
    storeLow(state, state.high);
  }

  /** Lowers every high-water mark to the place of appending; flushed, not drained. */
  void storeHighMarksAtAppend() {
    linked.forEach(state -> {
      if (state.append < state.high) {
        assert state.low <= state.append : state + ": low mark " + state.low + ", " + state.append;
        table.storeHigh(state.region.slot(), state.append);
        state.high = state.append;
      }
    });
  }
}
