package io.erda.simulation.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;

/**
 * Operations of clients on keys: who asked for what when, and what came of it.
 *
 * <p>Two ways in. Either operations are recorded as they happen, by {@link #invoke} before the
 * client sends anything and one of {@link #ok}, {@link #failed} after it knows; their order is that
 * of the calls. Or whole operations with times of their own are added by {@link #add}. Not both in
 * one history. What was invoked and never completed is {@link Outcome#UNKNOWN}. Thread-safe.
 *
 * <p>Values are known by IDs that no two puts of one key share; {@link #ABSENT} is none. A store
 * begins empty.
 */
public final class History {
  /** What a get of an absent key saw. */
  public static final long ABSENT = 0;

  /** When an operation that has not ended ended. */
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
   * An operation without a condition begins.
   *
   * @param value of a put: its ID; else ignored
   * @return the operation, for {@link #ok} and {@link #failed}
   */
  public synchronized int invoke(int client, Operation operation, long key, long value) {
    return invokeIf(client, operation, key, value, ABSENT);
  }

  /**
   * An operation with a condition begins.
   *
   * @param value of a put: its ID; else ignored
   * @param expectedValue the ID of the value that the key must have for it to be done, or {@link
   *     #ABSENT}
   * @return the operation, for {@link #ok} and {@link #failed}
   */
  public synchronized int invokeIf(
      int client, Operation operation, long key, long value, long expectedValue) {
    return append(
        client,
        operation,
        key,
        operation.puts() ? value : 0,
        expectedValue,
        ++clock,
        NEVER,
        Outcome.UNKNOWN);
  }

  /**
   * An operation is done.
   *
   * @param result of a get: the ID of the value or {@link #ABSENT}; of a delete: 1 when the key
   *     existed, else 0; of a put: ignored; of one with a condition: 1 when it was done, else 0
   */
  public synchronized void ok(int operation, long result) {
    complete(operation, Outcome.OK);
    Operation what = operation(operation);
    if (!what.puts()) {
      values[operation] = result;
    } else if (what == Operation.PUT_IF && result == 0) {
      values[operation] = ABSENT;
    }
  }

  /** An operation was done by now, or never will be, and nobody knows which. */
  public synchronized void unknown(int operation) {
    complete(operation, Outcome.UNKNOWN);
  }

  /** An operation has definitely not been done and will not be. */
  public synchronized void failed(int operation) {
    complete(operation, Outcome.FAILED);
  }

  private void complete(int operation, Outcome outcome) {
    if (returned[operation] != NEVER) {
      throw new IllegalStateException("operation " + operation + " completed before");
    }
    returned[operation] = ++clock;
    outcomes[operation] = (byte) outcome.ordinal();
  }

  /** Something happened to the system: a crash, a restart. */
  public synchronized void mark(String text) {
    marks.add(new Mark(++clock, text));
  }

  /** As {@link #mark(String)}, at a time of the caller's. */
  public synchronized void mark(long time, String text) {
    marks.add(new Mark(time, text));
  }

  /**
   * Adds a whole operation.
   *
   * @param value of a put: its ID, but {@link #ABSENT} of one whose condition did not hold; of an
   *     OK get or delete: the result, as for {@link #ok}
   * @param invokedAt before it could have taken effect
   * @param returnedAt after it had, where the outcome is OK; equal times count as concurrent. Where
   *     the outcome is unknown: after it had or never will have; {@link #NEVER} where it may yet
   */
  public synchronized void add(
      int client,
      Operation operation,
      long key,
      long value,
      long invokedAt,
      long returnedAt,
      Outcome outcome) {
    addIf(client, operation, key, value, ABSENT, invokedAt, returnedAt, outcome);
  }

  /** As {@link #add}, with the value that the operation is conditional on. */
  synchronized void addIf(
      int client,
      Operation operation,
      long key,
      long value,
      long expectedValue,
      long invokedAt,
      long returnedAt,
      Outcome outcome) {
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
      Operation operation,
      long key,
      long value,
      long expectedValue,
      long invokedAt,
      long returnedAt,
      Outcome outcome) {
    if (operation == Operation.PUT && value == ABSENT) {
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

  /** Operations. */
  public synchronized int size() {
    return size;
  }

  /** Operations that ended so. */
  public synchronized int count(Outcome outcome) {
    int count = 0;
    for (int i = 0; i < size; i++) {
      count += outcomes[i] == outcome.ordinal() ? 1 : 0;
    }
    return count;
  }

  /** Operations whose condition held, or did not hold. */
  public synchronized int countConditions(boolean held) {
    int count = 0;
    for (int i = 0; i < size; i++) {
      boolean told = operation(i).isConditional() && outcome(i) == Outcome.OK;
      count += told && missed(i) != held ? 1 : 0;
    }
    return count;
  }

  /** Whether any operation is one on this key. */
  public synchronized boolean knows(long key) {
    for (int i = 0; i < size; i++) {
      if (keys[i] == key) {
        return true;
      }
    }
    return false;
  }

  /** Everything that happened, a line for each operation and mark, by time of beginning. */
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
    boolean ok = outcome(i) == Outcome.OK;
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

  // For the checker, which runs when nothing is recorded any more.

  int client(int operation) {
    return clients[operation];
  }

  Operation operation(int operation) {
    return OPERATIONS[operations[operation]];
  }

  Outcome outcome(int operation) {
    return OUTCOMES[outcomes[operation]];
  }

  long key(int operation) {
    return keys[operation];
  }

  long value(int operation) {
    return values[operation];
  }

  /** The value that it is conditional on. */
  long expected(int operation) {
    return expected[operation];
  }

  /** Whether its condition did not hold. */
  boolean missed(int operation) {
    return operation(operation).isConditional()
        && outcome(operation) == Outcome.OK
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

  private static final Operation[] OPERATIONS = Operation.values();
  private static final Outcome[] OUTCOMES = Outcome.values();
}
