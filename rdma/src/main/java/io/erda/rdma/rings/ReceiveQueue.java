package io.erda.rdma.rings;

/**
 * Posted receive buffers, which are filled in the order in which they were posted. One thread;
 * preallocated.
 */
final class ReceiveQueue {
  private final long[] ids;
  private final LocalRegion[] regions;
  private final long[] offsets;
  private final int[] lengths;
  private final int mask;
  private int head;
  private int tail;

  /**
   * @param capacity a power of two
   */
  ReceiveQueue(int capacity) {
    ids = new long[capacity];
    regions = new LocalRegion[capacity];
    offsets = new long[capacity];
    lengths = new int[capacity];
    mask = capacity - 1;
  }

  boolean isEmpty() {
    return head == tail;
  }

  boolean add(long wrId, LocalRegion region, long offset, int length) {
    if (tail - head > mask) {
      return false;
    }
    int at = tail & mask;
    ids[at] = wrId;
    regions[at] = region;
    offsets[at] = offset;
    lengths[at] = length;
    tail++;
    return true;
  }

  long wrId() {
    return ids[head & mask];
  }

  LocalRegion region() {
    return regions[head & mask];
  }

  long offset() {
    return offsets[head & mask];
  }

  int length() {
    return lengths[head & mask];
  }

  void remove() {
    assert !isEmpty() : "no receive is posted";
    regions[head & mask] = null;
    head++;
  }
}
