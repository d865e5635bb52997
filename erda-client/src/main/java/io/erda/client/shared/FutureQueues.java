package io.erda.client.shared;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The operations of {@code ErdaFutures} that its thread has taken over, ordered by key. One thread.
 *
 * <p>For one key either gets are under way together, or puts and deletes, whose order the client
 * keeps. The first operation of the other kind, and all operations after it, wait until these have
 * ended. Operations that may begin wait for room in the pipeline, gets and puts in separate queues,
 * because their room is separate.
 */
final class FutureQueues {
  /** A key for which operations are under way or wait. */
  private static final class OfKey {
    /** Whether the operations that may begin, or have begun, are gets. */
    boolean gets;

    /** How many operations may begin or have begun, and have not ended. */
    int running;

    /** Operations that wait for those to end. */
    final OperationQueue waiting = new OperationQueue();
  }

  private final Map<FutureOperation.Key, OfKey> keys = new HashMap<>();
  private final OperationQueue gets = new OperationQueue();
  private final OperationQueue puts = new OperationQueue();

  /** Adds an operation. When an exhausted heap keeps it from that, the operation is not added. */
  void add(FutureOperation operation) {
    OfKey queue = keys.computeIfAbsent(operation.hashKey, key -> new OfKey());
    if (queue.running == 0) {
      queue.gets = operation.isGet();
    }
    if (queue.waiting.isEmpty() && queue.gets == operation.isGet()) {
      run(queue, operation);
    } else {
      queue.waiting.add(operation);
    }
  }

  private void run(OfKey queue, FutureOperation operation) {
    row(operation.isGet()).add(operation);
    queue.running++;
  }

  private OperationQueue row(boolean ofGets) {
    return ofGets ? gets : puts;
  }

  /**
   * The next get, or put, that may begin; null when there is none. It stays the next one until
   * {@link #taken}.
   */
  FutureOperation next(boolean get) {
    return row(get).peek();
  }

  /** Removes the next operation, which has begun, or has ended without beginning. */
  void taken(boolean get) {
    row(get).poll();
  }

  /**
   * Notes that an operation that was {@link #taken} has ended: operations that waited for it may
   * begin.
   */
  void ended(FutureOperation operation) {
    OfKey queue = keys.get(operation.hashKey);
    if (--queue.running > 0) {
      return;
    }
    if (queue.waiting.isEmpty()) {
      keys.remove(operation.hashKey);
      return;
    }
    queue.gets = queue.waiting.peek().isGet();
    while (!queue.waiting.isEmpty() && queue.waiting.peek().isGet() == queue.gets) {
      run(queue, queue.waiting.poll());
    }
  }

  /** Removes all operations that have not begun, and passes each to {@code taker}. */
  void drain(Consumer<FutureOperation> taker) {
    drain(gets, taker);
    drain(puts, taker);
    for (OfKey each : keys.values()) {
      drain(each.waiting, taker);
    }
    keys.clear();
  }

  private static void drain(OperationQueue some, Consumer<FutureOperation> taker) {
    for (FutureOperation each = some.poll(); each != null; each = some.poll()) {
      taker.accept(each);
    }
  }
}
