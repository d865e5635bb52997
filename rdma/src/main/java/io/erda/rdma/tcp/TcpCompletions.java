package io.erda.rdma.tcp;

import io.erda.rdma.CompletionHandler;
import io.erda.rdma.Opcode;

/** The completions that a queue pair has to report, in order. One thread; preallocated. */
final class TcpCompletions {
  private final long[] ids;
  private final long[] outcomes;
  private final int[] immediates;
  private final int mask;
  private int ofRequests;
  private int head;
  private int tail;

  /**
   * @param capacity a power of two, the most that can ever wait
   */
  TcpCompletions(int capacity) {
    ids = new long[capacity];
    outcomes = new long[capacity];
    immediates = new int[capacity];
    mask = capacity - 1;
  }

  int count() {
    return tail - head;
  }

  /**
   * Returns how many of the completions belong to requests, and not to receives or to the
   * connection.
   */
  int ofRequests() {
    return ofRequests;
  }

  void add(long wrId, int opcode, int status, int byteLength, int imm) {
    if (tail - head > mask) {
      throw new IllegalStateException("more completions than work");
    }
    assert (opcode | status) >>> 8 == 0 && byteLength >= 0
        : "opcode " + opcode + ", status " + status + ", " + byteLength + " bytes";
    int at = tail & mask;
    ids[at] = wrId;
    outcomes[at] = (long) byteLength << 32 | opcode << 8 | status;
    immediates[at] = imm;
    tail++;
    ofRequests += isOfRequest(opcode) ? 1 : 0;
  }

  /**
   * Passes on at most {@code limit} completions, including those that are added during the call.
   */
  int drain(CompletionHandler handler, int limit) {
    int done = 0;
    while (done < limit && head != tail) {
      int at = head & mask;
      long outcome = outcomes[at];
      int opcode = (int) outcome >>> 8 & 0xff;
      head++;
      done++;
      ofRequests -= isOfRequest(opcode) ? 1 : 0;
      handler.onCompletion(
          ids[at], opcode, (int) outcome & 0xff, (int) (outcome >>> 32), immediates[at]);
    }
    return done;
  }

  private static boolean isOfRequest(int opcode) {
    return switch (opcode) {
      case Opcode.RECEIVE, Opcode.RECEIVE_IMM, Opcode.CONNECT, Opcode.DISCONNECT -> false;
      default -> true;
    };
  }

  void clear() {
    head = tail;
    ofRequests = 0;
  }
}
