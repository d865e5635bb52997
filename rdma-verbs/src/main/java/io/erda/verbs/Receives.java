package io.erda.verbs;

/** Posted receives, and slots with messages that wait for one. One thread; preallocated. */
final class Receives {
  static final int CAPACITY = 1024;
  private static final int MASK = CAPACITY - 1;

  private final long[] ids = new long[CAPACITY];
  private final VerbsRegion[] regions = new VerbsRegion[CAPACITY];
  private final long[] offsets = new long[CAPACITY];
  private final int[] lengths = new int[CAPACITY];
  private int head;
  private int tail;

  private final int[] slots = new int[CAPACITY];
  private int arrivedHead;
  private int arrivedTail;

  boolean add(long wrId, VerbsRegion region, long offset, int length) {
    if (tail - head == CAPACITY) {
      return false;
    }
    int at = tail++ & MASK;
    ids[at] = wrId;
    regions[at] = region;
    offsets[at] = offset;
    lengths[at] = length;
    return true;
  }

  boolean isEmpty() {
    return head == tail;
  }

  long wrId() {
    return ids[head & MASK];
  }

  VerbsRegion region() {
    return regions[head & MASK];
  }

  long offset() {
    return offsets[head & MASK];
  }

  int length() {
    return lengths[head & MASK];
  }

  void remove() {
    assert !isEmpty() : "no receive is posted";
    regions[head++ & MASK] = null;
  }

  /** Keeps a message that came. There is always room, because there are fewer slots than places. */
  void arrived(int slot) {
    assert arrivedTail - arrivedHead < CAPACITY : "a message would be lost";
    slots[arrivedTail++ & MASK] = slot;
  }

  boolean hasMessage() {
    return arrivedHead != arrivedTail;
  }

  int takeMessage() {
    assert hasMessage() : "no message waits";
    return slots[arrivedHead++ & MASK];
  }

  /** Drops the messages that were not received. */
  void dropMessages() {
    arrivedHead = arrivedTail;
  }
}
