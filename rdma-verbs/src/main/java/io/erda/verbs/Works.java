package io.erda.verbs;

import io.erda.rdma.CompletionHandler;
import io.erda.rdma.Flags;
import io.erda.rdma.Status;
import io.erda.rdma.Work;

/**
 * A ring of work that was posted to a queue pair and not reported yet, in order. One thread;
 * preallocated. An entry is named by its number, which counts from 0.
 */
final class Works {
  static final int CAPACITY = 512;
  private static final int MASK = CAPACITY - 1;
  private static final int PENDING = -1;

  /** A state: the work has ended and was not reported. */
  static final int UNTOLD = -2;

  private final long[] wrIds = new long[CAPACITY];
  private final int[] opcodes = new int[CAPACITY];
  private final int[] flags = new int[CAPACITY];
  private final int[] statuses = new int[CAPACITY];
  private final boolean[] started = new boolean[CAPACITY];

  /**
   * Whether the work changes the peer's memory, so that the receiver of a later message must see
   * the change.
   */
  private final boolean[] changes = new boolean[CAPACITY];

  /**
   * Whether the entry is the second half of the previous one. A failure of one half is a failure of
   * both.
   */
  private final boolean[] follows = new boolean[CAPACITY];

  /** The slot of the message, or -1 for work on the peer's memory. */
  private final int[] slots = new int[CAPACITY];

  final long[] localAddress = new long[CAPACITY];
  final int[] lkey = new int[CAPACITY];
  final long[] remoteAddress = new long[CAPACITY];
  final int[] rkey = new int[CAPACITY];
  final int[] length = new int[CAPACITY];
  final long[] expected = new long[CAPACITY];
  final long[] value = new long[CAPACITY];

  private long head;
  private long tail;

  static int at(long work) {
    return (int) work & MASK;
  }

  boolean hasRoom(int count) {
    return tail - head + count <= CAPACITY;
  }

  long head() {
    return head;
  }

  long tail() {
    return tail;
  }

  /** Adds work that is pending; the caller fills in the rest. */
  long add(Work work, int workFlags, int slot, boolean change) {
    assert hasRoom(1) : "work that was not reported would be lost";
    int at = at(tail);
    wrIds[at] = work.wrId;
    opcodes[at] = work.opcode;
    flags[at] = workFlags;
    statuses[at] = PENDING;
    started[at] = false;
    changes[at] = change;
    follows[at] = false;
    slots[at] = slot;
    length[at] = work.length;
    return tail++;
  }

  /** Makes an entry the second half of the previous one. */
  void follow(long work) {
    assert work > head && work < tail : work + " has none before it";
    follows[at(work)] = true;
  }

  boolean isFollowing(long work) {
    return follows[at(work)];
  }

  int opcode(long work) {
    return opcodes[at(work)];
  }

  int flags(long work) {
    return flags[at(work)];
  }

  int slot(long work) {
    return slots[at(work)];
  }

  boolean changes(long work) {
    return changes[at(work)];
  }

  boolean isStarted(long work) {
    return started[at(work)];
  }

  void start(long work) {
    assert work < tail && isPending(work) && !isStarted(work) : "work " + work + " starts twice";
    started[at(work)] = true;
  }

  /** Marks pending work on the peer's memory from {@code first} on to be started again. */
  void startAgain(long first) {
    for (long work = first; work < tail; work++) {
      if (slots[at(work)] < 0 && isPending(work)) {
        started[at(work)] = false;
      }
    }
  }

  boolean isPending(long work) {
    return work >= head && statuses[at(work)] == PENDING;
  }

  /** Whether the work ended with an error that was not reported yet. */
  boolean failed(long work) {
    return work >= head && statuses[at(work)] > Status.SUCCESS;
  }

  void end(long work, int status) {
    assert status != PENDING && work < tail : "work " + work + " ends as " + status;
    if (isPending(work)) {
      boolean told = status > Status.SUCCESS && follows[at(work)] && failed(work - 1);
      statuses[at(work)] = told ? UNTOLD : status;
    }
  }

  /** Ends started work on the peer's memory. It is unknown whether it took effect. */
  void endData() {
    for (long work = head; work < tail; work++) {
      if (slots[at(work)] < 0 && started[at(work)]) {
        end(work, Status.FLUSHED);
      }
    }
  }

  /** Ends all pending work. */
  void endAll(int status) {
    for (long work = head; work < tail; work++) {
      end(work, status);
    }
  }

  /**
   * Whether {@link #report} would report a completion. Removes ended work that need not be
   * reported.
   */
  boolean hasReport() {
    while (head < tail && statuses[at(head)] != PENDING) {
      int at = at(head);
      if (statuses[at] > Status.SUCCESS
          || statuses[at] == Status.SUCCESS && (flags[at] & Flags.SIGNALED) != 0) {
        return true;
      }
      head++;
    }
    return false;
  }

  /** Reports the oldest. REQUIRES: {@link #hasReport}. */
  void report(CompletionHandler handler) {
    assert head < tail && statuses[at(head)] != PENDING : "work " + head + " is not over";
    int at = at(head++);
    int bytes = statuses[at] == Status.SUCCESS ? length[at] : 0;
    handler.onCompletion(wrIds[at], opcodes[at], statuses[at], bytes, 0);
  }
}
