package io.erda.simulation;

import io.erda.rdma.Opcode;
import io.erda.rdma.Status;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

/** The receives of one end that wait for messages. */
final class SimulatedReceives {
  private record Receive(long wrId, MemorySegment memory, long offset, int length) {}

  private final int depth;
  private final Traffic traffic;
  private final SimulatedCompletions completions;
  private final ArrayDeque<Receive> waiting = new ArrayDeque<>();

  SimulatedReceives(int depth, Traffic traffic, SimulatedCompletions completions) {
    this.depth = depth;
    this.traffic = traffic;
    this.completions = completions;
  }

  /** Adds a receive. Returns false when the queue is full. */
  boolean post(long wrId, MemorySegment memory, long offset, int length) {
    if (waiting.size() >= depth) {
      return false;
    }
    waiting.add(new Receive(wrId, memory, offset, length));
    return true;
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Puts a message into the oldest receive. */
  void take(PostedWork message) {
    assert message.isReady() : "a message is received when what came before it has landed";
    Receive receive = waiting.remove();
    traffic.received();
    completions.received(receive.wrId, deliver(message, receive), message);
  }

  private static int deliver(PostedWork message, Receive receive) {
    if (message.opcode == Opcode.WRITE_IMM) {
      return Status.SUCCESS;
    }
    if (message.length > receive.length) {
      return Status.LENGTH;
    }
    MemorySegment.copy(
        message.local(), message.localOffset(), receive.memory, receive.offset, message.length);
    return Status.SUCCESS;
  }

  /** Flushes the receives, because no message will come. */
  void flush() {
    for (Receive receive = waiting.poll(); receive != null; receive = waiting.poll()) {
      completions.receiveFlushed(receive.wrId);
    }
  }

  void clear() {
    waiting.clear();
  }
}
