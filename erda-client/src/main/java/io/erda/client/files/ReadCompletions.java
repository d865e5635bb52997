package io.erda.client.files;

import io.erda.rdma.CompletionHandler;
import java.util.Arrays;

/** Completions that wait to be polled, in order. Grows on demand. One thread. */
final class ReadCompletions {
  private static final int FIELDS = 4;

  private long[] fields = new long[FIELDS * 64];
  private int head;
  private int tail;

  boolean isEmpty() {
    return head == tail;
  }

  void add(long wrId, int opcode, int status, int byteLength) {
    if (tail == fields.length) {
      fields = head > 0 ? fields : Arrays.copyOf(fields, 2 * fields.length);
      System.arraycopy(fields, head, fields, 0, tail - head);
      tail -= head;
      head = 0;
    }
    fields[tail] = wrId;
    fields[tail + 1] = opcode;
    fields[tail + 2] = status;
    fields[tail + 3] = byteLength;
    tail += FIELDS;
  }

  /** Hands over at most {@code limit} completions, including those added meanwhile. */
  int drain(CompletionHandler handler, int limit) {
    int done = 0;
    while (done < limit && head != tail) {
      int at = head;
      head += FIELDS;
      done++;
      handler.onCompletion(
          fields[at], (int) fields[at + 1], (int) fields[at + 2], (int) fields[at + 3], 0);
    }
    if (head == tail) {
      head = 0;
      tail = 0;
    }
    return done;
  }

  void clear() {
    head = 0;
    tail = 0;
  }
}
