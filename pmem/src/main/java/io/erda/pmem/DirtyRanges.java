package io.erda.pmem;

/**
 * A bounded, sorted set of page ranges that were flushed. Ranges nearer than {@link #GAP} become
 * one: one msync over clean pages between is cheaper than a second wait for the device. When it is
 * full, the two ranges with the smallest gap become one. So it may cover more than was added, never
 * less.
 */
final class DirtyRanges {
  static final int LIMIT = 32;
  static final long GAP = 256 << 10;
  private static final long PAGE = 4096;

  // The last place is for the range that makes the set overflow.
  private final long[] starts = new long[LIMIT + 1];
  private final long[] ends = new long[LIMIT + 1];
  private int count;

  int count() {
    return count;
  }

  long start(int index) {
    return starts[index];
  }

  long end(int index) {
    return ends[index];
  }

  void add(long from, long to) {
    long start = from & -PAGE;
    long end = to + PAGE - 1 & -PAGE;
    int first = 0;
    while (first < count && ends[first] + GAP < start) {
      first++;
    }
    int past = first;
    while (past < count && starts[past] <= end + GAP) {
      start = Math.min(start, starts[past]);
      end = Math.max(end, ends[past]);
      past++;
    }
    replace(first, past, start, end);
    if (count > LIMIT) {
      joinNearest();
    }
  }

  /** Moves everything from {@code other} here, replacing what was here. */
  void takeFrom(DirtyRanges other) {
    System.arraycopy(other.starts, 0, starts, 0, other.count);
    System.arraycopy(other.ends, 0, ends, 0, other.count);
    count = other.count;
    other.count = 0;
  }

  private void replace(int first, int past, long start, long end) {
    int rest = count - past;
    System.arraycopy(starts, past, starts, first + 1, rest);
    System.arraycopy(ends, past, ends, first + 1, rest);
    starts[first] = start;
    ends[first] = end;
    count = first + 1 + rest;
  }

  private void joinNearest() {
    int best = 0;
    for (int i = 1; i < count - 1; i++) {
      if (starts[i + 1] - ends[i] < starts[best + 1] - ends[best]) {
        best = i;
      }
    }
    replace(best, best + 2, starts[best], ends[best + 1]);
  }
}
