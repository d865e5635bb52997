package io.erda.client.shared;

/**
 * A queue of operations, each of which has the link to the next one. Nothing is allocated to add an
 * operation, so an exhausted heap loses none. An operation is in one queue at a time. One thread.
 */
final class OperationQueue {
  private FutureOperation first;
  private FutureOperation last;
  private int size;

  boolean isEmpty() {
    return size == 0;
  }

  int size() {
    return size;
  }

  /** The first operation; null when the queue is empty. */
  FutureOperation peek() {
    return first;
  }

  void add(FutureOperation operation) {
    assert operation.next == null && operation != last : "the operation is in a queue";
    if (first == null) {
      first = operation;
    } else {
      last.next = operation;
    }
    last = operation;
    size++;
  }

  /** Removes the first operation and returns it; null when the queue is empty. */
  FutureOperation poll() {
    FutureOperation polled = first;
    if (polled != null) {
      first = polled.next;
      last = first == null ? null : last;
      polled.next = null;
      size--;
    }
    return polled;
  }
}
