package io.erda.client.shared;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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
    final ArrayDeque<FutureOperation> waiting = new ArrayDeque<>(2);
  }

  private final Map<FutureOperation.Key, OfKey> keys = new HashMap<>();
  private final ArrayDeque<FutureOperation> gets = new ArrayDeque<>();
  private final ArrayDeque<FutureOperation> puts = new ArrayDeque<>();

  /** Adds an operation. */
  void add(FutureOperation operation) {
    OfKey queue = keys.computeIfAbsent(new FutureOperation.Key(operation.key), key -> new OfKey());
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
    queue.running++;
    row(operation.isGet()).add(operation);
  }

  private ArrayDeque<FutureOperation> row(boolean ofGets) {
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
    row(get).remove();
  }

  /**
   * Notes that an operation that was {@link #taken} has ended: operations that waited for it may
   * begin.
   */
  void ended(FutureOperation operation) {
    FutureOperation.Key key = new FutureOperation.Key(operation.key);
    OfKey queue = keys.get(key);
    if (--queue.running > 0) {
      return;
    }
    if (queue.waiting.isEmpty()) {
      keys.remove(key);
      return;
    }
    queue.gets = queue.waiting.peek().isGet();
    while (!queue.waiting.isEmpty() && queue.waiting.peek().isGet() == queue.gets) {
      run(queue, queue.waiting.remove());
    }
  }

  /** Removes all operations that have not begun. */
  List<FutureOperation> drain() {
    List<FutureOperation> all = new ArrayList<>(gets);
    all.addAll(puts);
    keys.values().forEach(queue -> all.addAll(queue.waiting));
    gets.clear();
    puts.clear();
    keys.clear();
    return all;
  }
}
