package io.erda.client.calls;

import io.erda.client.connections.KnownStore;
import io.erda.client.gets.DirectGets;
import io.erda.client.gets.Get;
import io.erda.client.operations.CallersMemory;
import io.erda.client.operations.Operation;
import io.erda.client.operations.Step;
import io.erda.client.puts.Put;
import io.erda.pmem.MemoryGuard;
import io.erda.protocol.ErdaException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Calls with several keys. The keys are taken in groups, one key for each operation object. The
 * operations of a group are under way together; each is a get or a put as in a call with one key,
 * and has its own outcome.
 *
 * <p>When an exception that is no outcome of an operation cuts a group short (the caller's memory
 * is missing, the stack overflows), the operations under way are ended and get outcomes before the
 * exception is thrown. The keys that follow fail with {@link ErdaException.Unavailable}.
 */
public final class BatchCalls {
  /**
   * How many operations are under way together: about as many cache misses as a core handles at
   * once, and half of the requests that a connection may have outstanding.
   */
  public static final int DEPTH_MAX = 16;

  /** The length of a value that could not be read. */
  public static final long FAILED = -2;

  private final ClientCore core;
  private final KnownStore store;
  private final BlockingCalls calls;
  private final DirectGets direct;
  private final Get[] gets;
  private final Put[] puts;

  /** For each operation of the group, the index of its key in the call. */
  private final int[] keyOf;

  // The group.
  private int next;
  private int size;
  private int begun;

  // The call.
  private ErdaException[] errors;
  private int failed;
  private Throwable thrown;

  /**
   * REQUIRES: {@link ClientCore#makeAll} was called, and nothing is under way.
   *
   * @param calls the blocking calls of the same client
   */
  public BatchCalls(ClientCore core, BlockingCalls calls) {
    this.core = core;
    this.calls = calls;
    store = core.context.store();
    direct = core.directGets();
    int depth = core.depth();
    gets = new Get[depth];
    puts = new Put[depth];
    keyOf = new int[depth];
    for (int i = 0; i < depth; i++) {
      gets[i] = core.get(i);
      puts[i] = core.put(i);
    }
  }

  /**
   * Checks all arguments before anything is done.
   *
   * @param values null for deletes
   * @param valuesAreTaken whether the values are copied into, as gets do
   * @throws NullPointerException when a segment is missing
   * @throws IllegalArgumentException when the lengths differ, or a segment that is copied into is
   *     read-only
   * @throws IllegalStateException when the arena of a segment is closed
   * @throws WrongThreadException when only another thread may use a segment
   */
  public static void requireAll(
      MemorySegment[] keys,
      MemorySegment[] values,
      boolean valuesAreTaken,
      int outcomes,
      int errors) {
    int count = keys.length;
    int valueCount = values == null ? count : values.length;
    if (valueCount != count || outcomes != count || errors != count) {
      throw new IllegalArgumentException(
          "arrays of different lengths: "
              + count
              + " keys, "
              + valueCount
              + " values, room for "
              + outcomes
              + " outcomes and "
              + errors
              + " errors");
    }
    for (int i = 0; i < count; i++) {
      if (keys[i] == null || values != null && values[i] == null) {
        throw new NullPointerException("segment " + i + " of " + count);
      }
    }
    CallersMemory.requireAll(keys, "key");
    if (valuesAreTaken) {
      CallersMemory.requireAllWritable(values, "the segment for value");
    } else if (values != null) {
      CallersMemory.requireAll(values, "value");
    }
  }

  // Gets.

  /** Returns how many failed. */
  public int get(byte[][] keys, byte[][] values, ErdaException[] toldErrors) {
    open(toldErrors);
    for (byte[] key : keys) {
      if (key == null) {
        throw new NullPointerException("a key is null");
      }
    }
    while (next < keys.length) {
      for (size = 0; size < gets.length && next < keys.length; next++) {
        if (takes(store.unfitKey(keys[next].length))) {
          gets[size].key(keys[next]);
          keyOf[size++] = next;
        }
      }
      runGets();
      for (int i = 0; i < size; i++) {
        Get get = gets[i];
        if (tell(i, get) && get.length >= 0) {
          byte[] value = new byte[(int) get.length];
          get.copyValue(value);
          values[keyOf[i]] = value;
        }
      }
      endGroup();
    }
    return failed;
  }

  /** Returns how many failed. */
  public int get(
      MemorySegment[] keys, MemorySegment[] into, long[] lengths, ErdaException[] toldErrors) {
    open(toldErrors);
    Arrays.fill(lengths, FAILED);
    while (next < keys.length) {
      for (size = 0; size < gets.length && next < keys.length; next++) {
        if (takes(store.unfitKey(keys[next].byteSize())) && takesKey(gets[size], keys[next])) {
          keyOf[size++] = next;
        }
      }
      runGets();
      for (int i = 0; i < size; i++) {
        Get get = gets[i];
        if (tell(i, get)) {
          int key = keyOf[i];
          if (copies(get, into[key], key)) {
            lengths[key] = get.length;
          }
        }
      }
      endGroup();
    }
    return failed;
  }

  private boolean takesKey(Get get, MemorySegment key) {
    try {
      get.key(key);
      return true;
    } catch (ErdaException.BadArgument e) {
      return takes(e);
    }
  }

  /** Copies the value of a get, if there is one and it fits. Returns whether that succeeded. */
  private boolean copies(Get get, MemorySegment into, int key) {
    try {
      if (get.length > 0 && get.length <= into.byteSize()) {
        get.copyValue(into);
      }
      return true;
    } catch (ErdaException.BadArgument e) {
      fail(key, e);
      return false;
    }
  }

  /**
   * Runs the gets of the group, whose keys are set. When this returns, each get has its outcome.
   */
  private void runGets() {
    for (int i = 0; i < size; i++) {
      gets[i].error = null;
    }
    int decided = size == 0 ? 0 : direct.run(gets, size);
    if (decided == size) {
      calls.endedAtOnce(size);
      return;
    }
    try {
      for (begun = 0; begun < size; begun++) {
        if (gets[begun].length < 0) {
          gets[begun].begin();
        }
      }
      calls.drive(gets, size);
    } catch (RuntimeException | Error e) {
      cutShort(gets, e);
    }
    if (core.isClosed()) {
      // The values that the gets found lie in memory of the client, which was released when the
      // client was closed.
      for (int i = 0; i < size; i++) {
        gets[i].error = gets[i].error == null ? closed() : gets[i].error;
      }
    }
  }

  // Puts and deletes.

  /**
   * Puts, or deletes when {@code values} is null. Returns how many failed.
   *
   * @param existed receives whether each deleted key had a value; null for puts
   */
  public int put(
      MemorySegment[] keys, MemorySegment[] values, boolean[] existed, ErdaException[] toldErrors) {
    open(toldErrors);
    while (next < keys.length) {
      try {
        beginPuts(keys, values);
      } catch (RuntimeException | Error e) {
        beginningFailed(e);
      }
      runPuts();
      for (int i = 0; i < size; i++) {
        if (tell(i, puts[i]) && existed != null) {
          existed[keyOf[i]] = puts[i].existed;
        }
      }
      endGroup();
    }
    return failed;
  }

  /** Begins with the puts of the next group. */
  private void beginPuts(MemorySegment[] keys, MemorySegment[] values) {
    size = 0;
    begun = 0;
    // The client learns here, as before a single put, that a server has ended, before it sends a
    // request.
    core.doWork();
    for (; size < puts.length && next < keys.length; next++) {
      MemorySegment key = keys[next];
      MemorySegment value = values == null ? null : values[next];
      ErdaException bad = store.unfitKey(key.byteSize());
      if (bad == null && value != null) {
        bad = store.unfitValue(key.byteSize(), value.byteSize());
      }
      if (takes(bad)) {
        puts[size].error = null;
        keyOf[size++] = next;
        if (builds(puts[begun], key, value)) {
          puts[begun].begin();
          begun++;
        }
      }
    }
  }

  private boolean builds(Put put, MemorySegment key, MemorySegment value) {
    try {
      put.build(key, value);
      return true;
    } catch (ErdaException.BadArgument e) {
      size--;
      return takes(e);
    }
  }

  /** Handles that a put could not be built, or that an exception interrupted its beginning. */
  private void beginningFailed(Throwable e) {
    if (begun == size) {
      thrown = e;
      return;
    }
    // The exception skipped the loop's step to the next key.
    next++;
    Put put = puts[begun++];
    if (put.active()) {
      endCutShort(put, e);
    } else {
      thrown = e;
      if (put.step == Step.IDLE) {
        put.error = notBegun(e);
      }
    }
  }

  private void runPuts() {
    try {
      calls.drive(puts, size);
    } catch (RuntimeException | Error e) {
      begun = size;
      cutShort(puts, e);
    }
  }

  // Gets and puts.

  private void open(ErdaException[] toldErrors) {
    // An earlier call that threw may not have cleared the state of its last group.
    next = 0;
    failed = 0;
    thrown = null;
    errors = toldErrors;
    Arrays.fill(errors, null);
    free(gets);
    free(puts);
  }

  /**
   * Frees the operations whose outcomes an earlier call that threw has not told.
   *
   * @throws IllegalStateException when an Error interrupted one of them
   */
  private static void free(Operation[] operations) {
    for (Operation each : operations) {
      if (each.active()) {
        throw BlockingCalls.leftInTheMiddle();
      }
      each.step = Step.IDLE;
    }
  }

  /**
   * Whether an operation begins for the key at {@link #next}; otherwise the key has got its
   * outcome.
   */
  private boolean takes(ErdaException bad) {
    if (bad != null) {
      fail(next, bad);
    }
    return bad == null;
  }

  private void fail(int key, ErdaException error) {
    errors[key] = error;
    failed++;
  }

  /**
   * Stores the outcome of an operation of the group, and frees the operation. Returns whether it
   * succeeded.
   */
  private boolean tell(int place, Operation operation) {
    operation.step = Step.IDLE;
    if (operation.error != null) {
      fail(keyOf[place], operation.error);
    }
    return operation.error == null;
  }

  /**
   * Ends the operations that an exception left under way, so that every operation has an outcome.
   */
  private void cutShort(Operation[] operations, Throwable e) {
    boolean some = false;
    for (int i = 0; i < size; i++) {
      Operation each = operations[i];
      if (each.active()) {
        endCutShort(each, e);
        some = true;
      } else if (i >= begun && each.step == Step.IDLE && !isDecided(each)) {
        each.error = notBegun(e);
      }
    }
    if (!some && thrown == null) {
      thrown = e;
    }
  }

  /**
   * Ends an operation that was cut short. A fault in shared memory becomes its outcome; any other
   * exception is also thrown.
   */
  private void endCutShort(Operation operation, Throwable e) {
    core.cutShort(operation, e);
    if (MemoryGuard.isFault(e)) {
      operation.error.addSuppressed(e);
    } else if (thrown == null) {
      thrown = e;
    }
  }

  private static ErdaException notBegun(Throwable e) {
    return new ErdaException.Unavailable("not begun with: " + e);
  }

  private static boolean isDecided(Operation operation) {
    return operation instanceof Get get && get.length >= 0;
  }

  /**
   * Decides about the keys that follow the group. They are not tried when an exception was thrown,
   * when the client is closed, or when no operation of the group found a server.
   */
  private void endGroup() {
    ErdaException why = whyNotOn();
    if (why != null) {
      for (; next < errors.length; next++) {
        fail(next, why);
      }
    }
    Throwable e = thrown;
    if (e != null) {
      errors = null;
      thrown = null;
      if (e instanceof Error error) {
        throw error;
      }
      throw (RuntimeException) e;
    }
  }

  private ErdaException whyNotOn() {
    if (next == errors.length) {
      return null;
    }
    if (thrown != null) {
      return notBegun(thrown);
    }
    if (core.isClosed()) {
      return closed();
    }
    for (int i = 0; i < size; i++) {
      if (!(errors[keyOf[i]] instanceof ErdaException.Unavailable)) {
        return null;
      }
    }
    return size == 0
        ? null
        : new ErdaException.Unavailable("not begun with: " + errors[keyOf[size - 1]].getMessage());
  }

  private static ErdaException closed() {
    return new ErdaException.Unavailable("the client was closed");
  }
}
