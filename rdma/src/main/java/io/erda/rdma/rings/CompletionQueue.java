package io.erda.rdma.rings;

import io.erda.rdma.CompletionHandler;

/**
 * Completions of one queue pair's own work, in the order it was posted. One thread; preallocated.
 */
final class CompletionQueue {
  private final long[] ids;
  private final long[] outcomes;
  private final int mask;
  private int head;
  private int tail;

  /**
   * @param capacity a power of two
   */
  CompletionQueue(int capacity) {
    ids = new long[capacity];
    outcomes = new long[capacity];
    mask = capacity - 1;
  }

  boolean isFull() {
    return tail - head > mask;
  }

  boolean isEmpty() {
    return tail == head;
  }

  void add(long wrId, int opcode, int status, int byteLength) {
    assert !isFull() : "a completion that nobody took would be lost";
    assert (opcode | status) >>> 8 == 0 && byteLength >= 0
        : "opcode " + opcode + ", status " + status + ", " + byteLength + " bytes";
    int at = tail & mask;
    ids[at] = wrId;
    outcomes[at] = (long) byteLength << 32 | opcode << 8 | status;
    tail++;
  }

  /**
   * Passes on at most {@code limit} completions, including those that are added during the call.
   */
  int drain(CompletionHandler handler, int limit) {
    int done = 0;
    while (done < limit && head != tail) {
      int at = head & mask;
      long wrId = ids[at];
      long outcome = outcomes[at];
      head++;
      done++;
      handler.onCompletion(
          wrId, (int) outcome >>> 8 & 0xff, (int) outcome & 0xff, (int) (outcome >>> 32), 0);
    }
    return done;
  }

  void clear() {
    head = tail;
  }
}
