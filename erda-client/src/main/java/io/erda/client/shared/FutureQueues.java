package io.erda.client.shared;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The operations of {@code ErdaFutures} that its own thread has taken over, in the order that their
 * keys ask for. One thread.
 *
 * <p>Of one key either gets are under way together, or puts and deletes, whose order the client
 * keeps; the first operation of the other kind, and all behind it, wait until those have ended.
 * What may begin waits for room in the pipeline, gets and puts each in a row of their own, because
 * they have room of their own.
 */
final class FutureQueues {
  /** What is known of a key that operations are under way for, or wait. */
  private static final class OfKey {
    /** The kind of those that may begin, or have begun. */
    boolean gets;

    /** How many may begin or have begun, and have not ended. */
    int running;

    /** Those that wait for them to end. */
    final ArrayDeque<FutureOperation> waiting = new ArrayDeque<>(2);
  }

  private final Map<FutureOperation.Key, OfKey> keys = new HashMap<>();
  private final ArrayDeque<FutureOperation> gets = new ArrayDeque<>();
  private final ArrayDeque<FutureOperation> puts = new ArrayDeque<>();

  /** Takes an operation over. */
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

  /** The next get, or put, that may begin; null when there is none. It stays the next one. */
  FutureOperation next(boolean get) {
    return row(get).peek();
  }

  /** The next one has begun, or has ended without that. */
  void taken(boolean get) {
    row(get).remove();
  }

  /** An operation that was {@link #taken} has ended: those that waited for it may begin. */
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

  /** Gives up all that have not begun. */
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
