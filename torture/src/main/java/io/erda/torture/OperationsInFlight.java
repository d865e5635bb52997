package io.erda.torture;

import io.erda.protocol.ErdaException;
import io.erda.simulation.history.OperationKind;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * The operations that were submitted to an asynchronous client and whose outcome the handler has
 * not received. Reports an error when the handler does not receive each outcome exactly once. Any
 * thread may call it, because the thread that closes a client receives the outcomes of operations
 * that another thread submitted.
 */
final class OperationsInFlight {
  /** The longest wait is divided into this many checks for late operations. */
  private static final int LOOKS = 256;

  /** Submits the operation that was just recorded; false when the client refused it. */
  interface Submission {
    boolean submit(long token, ClientLog.Begun begun);
  }

  private record Submitted(ClientLog.Begun begun, long awakeNs) {}

  private final ClientLog log;
  private final LongSupplier awakeNs;
  private final Map<Long, Submitted> submitted = new HashMap<>();
  private long tokens;
  private int looks;

  /**
   * @param awakeNs the clock of {@link Watchdog#awakeNs}
   */
  OperationsInFlight(ClientLog log, LongSupplier awakeNs) {
    this.log = log;
    this.awakeNs = awakeNs;
  }

  /** Records an operation and submits it; notes it when the client refused it. */
  boolean submit(OperationKind operation, int key, Submission submission) {
    long token;
    ClientLog.Begun begun;
    synchronized (this) {
      token = ++tokens;
      begun = log.begin(operation, key);
      submitted.put(token, new Submitted(begun, awakeNs.getAsLong()));
    }
    boolean taken = false;
    try {
      taken = submission.submit(token, begun);
    } catch (IllegalStateException e) {
      // The client was closed in the meantime, and so refused the operation.
    }
    if (!taken) {
      synchronized (this) {
        if (submitted.remove(token) == null) {
          Complaint.say(key, "the handler heard of " + operation + " that was not submitted");
        } else {
          log.withoutEffect(begun);
        }
      }
    }
    return taken;
  }

  /** Called by the handler for a get. */
  synchronized void got(long token, MemorySegment value, long length) {
    ClientLog.Begun get = told(token, OperationKind.GET);
    if (get != null) {
      log.got(get, value, length);
    }
  }

  /**
   * Called by the handler for a put or delete.
   *
   * @param result in the history's form
   */
  synchronized void done(long token, OperationKind operation, long result) {
    ClientLog.Begun it = told(token, operation);
    if (it != null) {
      log.done(it, result);
    }
  }

  /** Called by the handler for a conditional operation. */
  synchronized void compared(long token, boolean done) {
    ClientLog.Begun it = told(token, null);
    if (it == null) {
      return;
    }
    if (!it.operation().isConditional()) {
      Complaint.say(it.key(), it.operation() + " was told as one with a condition");
    }
    log.done(it, done ? 1 : 0);
  }

  /** Called by the handler for an error. */
  synchronized ClientLog.Outcome failed(long token, ErdaException error) {
    ClientLog.Begun it = told(token, null);
    return it == null ? ClientLog.Outcome.FAILED : log.failed(it, error);
  }

  private ClientLog.Begun told(long token, OperationKind operation) {
    Submitted told = submitted.remove(token);
    if (told == null) {
      Complaint.say("operation " + token + " of " + tokens + " was told twice");
      return null;
    }
    ClientLog.Begun it = told.begun();
    if (operation != null && operation != it.operation()) {
      Complaint.say(it.key(), it.operation() + " was told as " + operation);
    }
    return it;
  }

  /**
   * Compares with the number that the client reports.
   *
   * @param closing whether another thread may be telling outcomes now
   */
  synchronized void compare(int inFlight, BooleanSupplier closing) {
    int expected = submitted.size();
    if (inFlight != expected && !closing.getAsBoolean()) {
      Complaint.say(
          "the client has " + inFlight + " operations in flight, told were all but " + expected);
    }
  }

  /**
   * Returns a description of a late operation, whose outcome did not come in time; null when there
   * is none.
   */
  synchronized String late() {
    if (++looks % LOOKS != 0) {
      return null;
    }
    for (Submitted it : submitted.values()) {
      if (awakeNs.getAsLong() - it.awakeNs() > Watchdog.OPERATION_NS) {
        return it.begun().operation()
            + " of key "
            + it.begun().key()
            + " was not told within "
            + Watchdog.OPERATION_NS / 1_000_000
            + " ms";
      }
    }
    return null;
  }

  /**
   * Requires that the handler has received the outcome of every operation, because the client is
   * closed.
   */
  synchronized void requireNone() {
    for (Submitted each : submitted.values()) {
      ClientLog.Begun it = each.begun();
      Complaint.say(
          it.key(),
          it.operation() + " was never told, of " + submitted.size() + " of a closed client");
    }
    submitted.clear();
  }
}
