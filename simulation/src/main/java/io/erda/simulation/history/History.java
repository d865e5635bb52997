package io.erda.simulation.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;

/**
 * Operations of clients on keys, with their times and results.
 *
 * <p>There are two ways to record. Either operations are recorded as they happen, by {@link
 * #invoke} before the client sends anything and one of {@link #ok}, {@link #failed} after it knows
 * the result; their order is that of the calls. Or whole operations with times of their own are
 * added by {@link #add}. Not both in one history. An operation that was invoked and never completed
 * is {@link Ending#UNKNOWN}. Thread-safe.
 *
 * <p>Values are known by IDs that no two puts of one key share; {@link #ABSENT} is none. A store
 * begins empty.
 */
public final class History {
  /** The value that a get of an absent key returned. */
  public static final long ABSENT = 0;

  /** The end of an operation that has not ended. */
  public static final long NEVER = Long.MAX_VALUE;

  /** Something that happened to the system, shown in reports. */
  record Mark(long time, String text) {}

  private int size;
  private long clock;
  private int[] clients = new int[64];
  private byte[] operations = new byte[64];
  private byte[] outcomes = new byte[64];
  private long[] keys = new long[64];
  private long[] values = new long[64];
  private long[] expected = new long[64];
  private long[] invoked = new long[64];
  private long[] returned = new long[64];
  private final List<Mark> marks = new ArrayList<>();

  /**
   * Records the beginning of an operation without a condition.
   *
   * @param value of a put: its ID; else ignored
   * @return the operation, for {@link #ok} and {@link #failed}
   */
  public synchronized int invoke(int client, OperationKind operation, long key, long value) {
    return invokeIf(client, operation, key, value, ABSENT);
  }

  /**
   * Records the beginning of an operation with a condition.
   *
   * @param value of a put: its ID; else ignored
   * @param expectedValue the ID of the value that the key must have for it to be done, or {@link
   *     #ABSENT}
   * @return the operation, for {@link #ok} and {@link #failed}
   */
  public synchronized int invokeIf(
      int client, OperationKind operation, long key, long value, long expectedValue) {
    return append(
        client,
        operation,
        key,
        operation.puts() ? value : 0,
        expectedValue,
        ++clock,
        NEVER,
        Ending.UNKNOWN);
  }

  /**
   * Records that an operation is done.
   *
   * @param result of a get: the ID of the value or {@link #ABSENT}; of a delete: 1 when the key
   *     existed, else 0; of a put: ignored; of one with a condition: 1 when it was done, else 0
   */
  public synchronized void ok(int operation, long result) {
    complete(operation, Ending.OK);
    OperationKind what = operation(operation);
    if (!what.puts()) {
      values[operation] = result;
    } else if (what == OperationKind.PUT_IF && result == 0) {
      values[operation] = ABSENT;
    }
  }

  /** Records that an operation was done by now, or never will be, and that it is unknown which. */
  public synchronized void unknown(int operation) {
    complete(operation, Ending.UNKNOWN);
  }

  /** Records that an operation has definitely not been done and will not be. */
  public synchronized void failed(int operation) {
    complete(operation, Ending.FAILED);
  }

  private void complete(int operation, Ending outcome) {
    if (returned[operation] != NEVER) {
      throw new IllegalStateException("operation " + operation + " completed before");
    }
    returned[operation] = ++clock;
    outcomes[operation] = (byte) outcome.ordinal();
  }

  /** Records an event of the system: a crash, a restart. */
  public synchronized void mark(String text) {
    marks.add(new Mark(++clock, text));
  }

  /** As {@link #mark(String)}, at a given time. */
  public synchronized void mark(long time, String text) {
    marks.add(new Mark(time, text));
  }

  /**
   * Adds a whole operation.
   *
   * @param value of a put: its ID, but {@link #ABSENT} when its condition did not hold; of an OK
   *     get or delete: the result, as for {@link #ok}
   * @param invokedAt before it could have taken effect
   * @param returnedAt when the outcome is OK, a time after it took effect; equal times count as
   *     concurrent. When it is unknown: a time after which it takes no effect; {@link #NEVER} when
   *     it still may
   */
  public synchronized void add(
      int client,
      OperationKind operation,
      long key,
      long value,
      long invokedAt,
      long returnedAt,
      Ending outcome) {
    addIf(client, operation, key, value, ABSENT, invokedAt, returnedAt, outcome);
  }

  /** As {@link #add}, with the value that the operation is conditional on. */
  synchronized void addIf(
      int client,
      OperationKind operation,
      long key,
      long value,
      long expectedValue,
      long invokedAt,
      long returnedAt,
      Ending outcome) {
    if (returnedAt < invokedAt) {
      throw new IllegalArgumentException(
          "an operation of client "
              + client
              + " returned at "
              + returnedAt
              + ", invoked at "
              + invokedAt);
    }
    append(client, operation, key, value, expectedValue, invokedAt, returnedAt, outcome);
  }

  private int append(
      int client,
      OperationKind operation,
      long key,
      long value,
      long expectedValue,
      long invokedAt,
      long returnedAt,
      Ending outcome) {
    if (operation == OperationKind.PUT && value == ABSENT) {
      throw new IllegalArgumentException("a put of the value " + ABSENT + ", which means absent");
    }
    if (size == clients.length) {
      grow();
    }
    clients[size] = client;
    operations[size] = (byte) operation.ordinal();
    outcomes[size] = (byte) outcome.ordinal();
    keys[size] = key;
    values[size] = value;
    expected[size] = expectedValue;
    invoked[size] = invokedAt;
    returned[size] = returnedAt;
    return size++;
  }

  private void grow() {
    int length = 2 * size;
    clients = Arrays.copyOf(clients, length);
    operations = Arrays.copyOf(operations, length);
    outcomes = Arrays.copyOf(outcomes, length);
    keys = Arrays.copyOf(keys, length);
    values = Arrays.copyOf(values, length);
    expected = Arrays.copyOf(expected, length);
    invoked = Arrays.copyOf(invoked, length);
    returned = Arrays.copyOf(returned, length);
  }

  /** Number of operations. */
  public synchronized int size() {
    return size;
  }

  /** Number of operations with an outcome. */
  public synchronized int count(Ending outcome) {
    int count = 0;
    for (int i = 0; i < size; i++) {
      count += outcomes[i] == outcome.ordinal() ? 1 : 0;
    }
    return count;
  }

  /** Number of operations whose condition held, or did not hold. */
  public synchronized int countConditions(boolean held) {
    int count = 0;
    for (int i = 0; i < size; i++) {
      boolean told = operation(i).isConditional() && outcome(i) == Ending.OK;
      count += told && missed(i) != held ? 1 : 0;
    }
    return count;
  }

  /** Whether there is an operation on this key. */
  public synchronized boolean knows(long key) {
    for (int i = 0; i < size; i++) {
      if (keys[i] == key) {
        return true;
      }
    }
    return false;
  }

  /** All operations and marks, a line each, by the time of their beginning. */
  public synchronized String text() {
    TreeMap<Long, String> lines = new TreeMap<>();
    for (int i = 0; i < size; i++) {
      String end = returned[i] == NEVER ? "never" : Long.toString(returned[i]);
      lines.put(
          invoked[i],
          String.format(
              "  %6d .. %-6s  client %-3d %s%n", invoked[i], end, clients[i], describe(i)));
    }
    for (Mark mark : marks) {
      lines.merge(
          mark.time, String.format("  %6d  ---- %s%n", mark.time, mark.text), String::concat);
    }
    return String.join("", lines.values());
  }

  private String describe(int i) {
    String value = values[i] == ABSENT ? "absent" : "v" + values[i];
    boolean ok = outcome(i) == Ending.OK;
    String how =
        switch (outcome(i)) {
          case OK -> "done";
          case FAILED -> "not done";
          case UNKNOWN -> "outcome unknown";
        };
    String condition = expected[i] == ABSENT ? " if absent" : " if v" + expected[i];
    return switch (operation(i)) {
      case PUT_IF ->
          "put    key "
              + keys[i]
              + condition
              + " = "
              + value
              + ": "
              + (missed(i) ? "conflict" : how);
      case DELETE_IF -> "delete key " + keys[i] + condition + ": " + (missed(i) ? "conflict" : how);
      case PUT -> "put    key " + keys[i] + " = " + value + ": " + how;
      case GET -> "get    key " + keys[i] + ": " + (ok ? value : how);
      case DELETE ->
          "delete key "
              + keys[i]
              + ": "
              + (ok ? values[i] == 1 ? "existed" : "did not exist" : how);
    };
  }

  // For the checker, which runs when the recording has ended.

  int client(int operation) {
    return clients[operation];
  }

  OperationKind operation(int operation) {
    return OPERATIONS[operations[operation]];
  }

  Ending outcome(int operation) {
    return OUTCOMES[outcomes[operation]];
  }

  long key(int operation) {
    return keys[operation];
  }

  long value(int operation) {
    return values[operation];
  }

  /** The ID of the value that the operation is conditional on. */
  long expected(int operation) {
    return expected[operation];
  }

  /** Whether the operation's condition did not hold. */
  boolean missed(int operation) {
    return operation(operation).isConditional()
        && outcome(operation) == Ending.OK
        && values[operation] == ABSENT;
  }

  long invoked(int operation) {
    return invoked[operation];
  }

  long returned(int operation) {
    return returned[operation];
  }

  List<Mark> marks() {
    return marks;
  }

  private static final OperationKind[] OPERATIONS = OperationKind.values();
  private static final Ending[] OUTCOMES = Ending.values();
}
