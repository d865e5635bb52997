package io.erda.launcher.torture;

import io.erda.protocol.ErdaException;
import io.erda.simulation.history.Operation;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * What was submitted to an asynchronous client, until its handler has heard of it: once, of each.
 * Complains when that is not so. Any thread: who closes a client hears what another one submitted.
 */
final class OperationsInFlight {
  /** The longest wait is divided into so many looks at what is late. */
  private static final int LOOKS = 256;

  /** Submits what was just written down; false when the client did not take it. */
  interface Submission {
    boolean submit(long token, Operation operation, MemorySegment key, MemorySegment value);
  }

  private record Begun(int number, Operation operation, int key, long id, long awakeNs) {}

  private final ClientLog log;
  private final LongSupplier awakeNs;
  private final Map<Long, Begun> begun = new HashMap<>();
  private long tokens;
  private int looks;

  /**
   * @param awakeNs the clock of {@link Watchdog#awakeNs}
   */
  OperationsInFlight(ClientLog log, LongSupplier awakeNs) {
    this.log = log;
    this.awakeNs = awakeNs;
  }

  /** Writes an operation down and submits it, or notes that the client did not take it. */
  boolean submit(Operation operation, int key, Submission submission) {
    long token;
    MemorySegment value;
    synchronized (this) {
      token = ++tokens;
      int number = log.begin(operation, key);
      value = operation == Operation.PUT ? log.value() : null;
      begun.put(token, new Begun(number, operation, key, log.id(), awakeNs.getAsLong()));
    }
    boolean taken = false;
    try {
      taken = submission.submit(token, operation, log.key(key), value);
    } catch (IllegalStateException e) {
      // Somebody has closed the client, which has not taken it then.
    }
    if (!taken) {
      synchronized (this) {
        Begun refused = begun.remove(token);
        if (refused == null) {
          Complaint.say(key, "the handler heard of " + operation + " that was not submitted");
        } else {
          log.withoutEffect(refused.number());
        }
      }
    }
    return taken;
  }

  /** The handler hears of a get. */
  synchronized void got(long token, MemorySegment value, long length) {
    Begun get = told(token, Operation.GET);
    if (get != null) {
      log.got(get.number(), get.key(), value, length);
    }
  }

  /**
   * The handler hears of a put or delete.
   *
   * @param result as the history wants it
   */
  synchronized void done(long token, Operation operation, long result) {
    Begun it = told(token, operation);
    if (it != null) {
      log.done(it.number(), result);
    }
  }

  /** The handler hears of an error. */
  synchronized ClientLog.Outcome failed(long token, ErdaException error) {
    Begun it = told(token, null);
    return it == null
        ? ClientLog.Outcome.FAILED
        : log.failed(it.number(), it.operation(), it.key(), error);
  }

  private Begun told(long token, Operation operation) {
    Begun it = begun.remove(token);
    if (it == null) {
      Complaint.say("operation " + token + " of " + tokens + " was told twice");
      return null;
    }
    if (operation != null && operation != it.operation()) {
      Complaint.say(it.key(), it.operation() + " was told as " + operation);
    }
    return it;
  }

  /**
   * Compares with what the client says is in flight.
   *
   * @param closing whether another thread may tell of operations just now
   */
  synchronized void compare(int inFlight, BooleanSupplier closing) {
    int expected = begun.size();
    if (inFlight != expected && !closing.getAsBoolean()) {
      Complaint.say(
          "the client has " + inFlight + " operations in flight, told were all but " + expected);
    }
  }

  /** What is late, or null: an operation whose end was not told, whatever time has passed. */
  synchronized String late() {
    if (++looks % LOOKS != 0) {
      return null;
    }
    for (Begun it : begun.values()) {
      if (awakeNs.getAsLong() - it.awakeNs() > Watchdog.OPERATION_NS) {
        return it.operation()
            + " of key "
            + it.key()
            + " was not told within "
            + Watchdog.OPERATION_NS / 1_000_000
            + " ms";
      }
    }
    return null;
  }

  /** The client is closed: of everything the handler has heard. */
  synchronized void requireNone() {
    for (Begun it : begun.values()) {
      Complaint.say(
          it.key(), it.operation() + " was never told, of " + begun.size() + " of a closed client");
    }
    begun.clear();
  }
}
