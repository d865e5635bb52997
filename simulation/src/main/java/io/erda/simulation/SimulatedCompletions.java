package io.erda.simulation;

import io.erda.rdma.CompletionHandler;
import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import java.util.ArrayDeque;

/** The completions of one end that were not polled yet. */
final class SimulatedCompletions {
  private record Completion(
      long wrId, int opcode, int status, int byteLength, int imm, boolean ofOwnWork, long message) {
    Completion {
      assert !ofOwnWork || message == 0 : "messages are numbered where they are received";
    }
  }

  private final Runnable activity;
  private final ArrayDeque<Completion> waiting = new ArrayDeque<>();
  private int ownWork;
  private long messagePolled;
  private boolean closed;

  /**
   * @param activity is called for each new completion
   */
  SimulatedCompletions(Runnable activity) {
    this.activity = activity;
  }

  /** Notes that work of this end has ended. */
  void workEnded(PostedWork work, int status) {
    ownWork++;
    int length = status == Status.SUCCESS ? work.length : 0;
    push(new Completion(work.wrId, work.opcode, status, length, 0, true, 0));
  }

  /** Notes that the connection begins or ends. */
  void event(int opcode, int status) {
    push(new Completion(0, opcode, status, 0, 0, false, 0));
  }

  void receiveFlushed(long wrId) {
    push(new Completion(wrId, Opcode.RECEIVE, Status.FLUSHED, 0, 0, false, 0));
  }

  /** Notes that a message of the other end has come into a receive. */
  void received(long wrId, int status, PostedWork message) {
    int opcode = message.opcode == Opcode.WRITE_IMM ? Opcode.RECEIVE_IMM : Opcode.RECEIVE;
    push(new Completion(wrId, opcode, status, message.length, message.imm, false, message.message));
  }

  private void push(Completion completion) {
    assert !closed : "nobody is left to hear of it";
    waiting.add(completion);
    activity.run();
  }

  int poll(CompletionHandler handler, int limit) {
    int count = 0;
    while (count < limit && !waiting.isEmpty()) {
      Completion completion = waiting.poll();
      if (completion.ofOwnWork) {
        ownWork--;
      }
      messagePolled = Math.max(messagePolled, completion.message);
      count++;
      handler.onCompletion(
          completion.wrId,
          completion.opcode,
          completion.status,
          completion.byteLength,
          completion.imm);
    }
    return count;
  }

  /**
   * Number of completions of this end's work that were not polled: they hold places in the send
   * queue.
   */
  int ownWork() {
    return ownWork;
  }

  /** The number of the other end's last message that was polled; 0 before the first. */
  long messagePolled() {
    return messagePolled;
  }

  /** Notes that this end is not polled any more. */
  void close() {
    closed = true;
    waiting.clear();
    ownWork = 0;
  }
}
