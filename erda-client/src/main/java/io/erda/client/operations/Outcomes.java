package io.erda.client.operations;

import io.erda.client.OperationHandler;
import java.lang.reflect.UndeclaredThrowableException;

/**
 * How many operations are in flight, and those of an asynchronous client that have ended and whose
 * handler was not told yet. Each is told once, in the order in which they ended, between two steps
 * of the client and never in the middle of one: whatever the handler does, submits or throws finds
 * the client in order.
 */
public final class Outcomes implements Operation.Listener {
  /** Null for a blocking client: whoever began an operation looks how it ended. */
  private final OperationHandler handler;

  /** A ring; each operation is in it at most once. */
  private final Operation[] ended;

  private int first;
  private int count;

  /** Operations that have begun and that nobody was told of. */
  private int active;

  /** Whether some have begun since this was asked last. */
  private boolean begun;

  /** What handlers threw since {@link #rethrow}: the first, with the others as suppressed ones. */
  private Throwable thrown;

  /**
   * @param handler hears how operations end, or null
   */
  public Outcomes(OperationHandler handler, int operations) {
    this.handler = handler;
    this.ended = new Operation[operations];
  }

  public int active() {
    return active;
  }

  /** Whether some are active beside one that has just ended. */
  public boolean othersActive() {
    // Of a blocking client that one is not counted any more.
    return active > (handler == null ? 0 : 1);
  }

  /** Whether operations have begun since this was asked last. */
  public boolean takeBegun() {
    boolean some = begun;
    begun = false;
    return some;
  }

  @Override
  public void opened() {
    active++;
    begun = true;
  }

  @Override
  public void ended(Operation operation) {
    if (handler == null) {
      active--;
    } else {
      add(operation);
    }
  }

  /** An operation of an asynchronous client ended in the call that submitted it. */
  public void endedAtOnce(Operation operation) {
    active++;
    operation.error = null;
    operation.step = Step.DONE;
    add(operation);
  }

  private void add(Operation operation) {
    int at = first + count++;
    ended[at < ended.length ? at : at - ended.length] = operation;
  }

  /**
   * Tells the handler of all that have ended so far. Of what ends because the handler submits, it
   * hears the next time, so that a handler that always submits does not keep this from returning.
   *
   * @return how many
   */
  public int tell() {
    int now = count;
    for (int i = 0; i < now; i++) {
      Operation operation = ended[first];
      first = first + 1 == ended.length ? 0 : first + 1;
      count--;
      active--;
      try {
        deliver(operation);
      } catch (Throwable e) {
        keep(e);
      } finally {
        operation.step = Step.IDLE;
      }
    }
    return now;
  }

  private void deliver(Operation operation) {
    if (operation.error == null) {
      operation.deliver(handler);
    } else {
      handler.onError(operation.token, operation.error);
    }
  }

  private void keep(Throwable e) {
    if (thrown == null) {
      thrown = e;
    } else if (thrown != e) {
      thrown.addSuppressed(e);
    }
  }

  /** Throws what handlers threw, if they did. */
  public void rethrow() {
    Throwable e = thrown;
    thrown = null;
    switch (e) {
      case null -> {
        // Nobody threw.
      }
      case RuntimeException unchecked -> throw unchecked;
      case Error error -> throw error;
      // Handlers declare no checked exception, and may throw one all the same.
      default -> throw new UndeclaredThrowableException(e);
    }
  }
}
