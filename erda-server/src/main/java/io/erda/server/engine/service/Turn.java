package io.erda.server.engine.service;

import java.util.function.BooleanSupplier;

/**
 * The right to take steps of a {@link ServerCore}, which one thread has at a time. The server's
 * thread has it while it takes a step. A thread of a device takes it to handle the requests that it
 * has just brought ({@link io.erda.rdma.QueuePair#onArrival}), instead of waking the server's
 * thread.
 */
@FunctionalInterface
public interface Turn {
  /** Only the server's thread takes steps. */
  Turn NONE = step -> false;

  /**
   * Takes a step in the calling thread, if no other thread has the turn. Throws nothing: an error
   * ends the server, in its own thread.
   *
   * @param step takes the step, and returns whether it leaves no work for the server's thread
   * @return false when the server's thread must be woken
   */
  boolean take(BooleanSupplier step);
}
