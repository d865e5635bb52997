package io.erda.client.operations;

import io.erda.client.OperationHandler;
import java.lang.reflect.UndeclaredThrowableException;

/**
 * Counts the operations in flight, and holds the operations of an asynchronous client that have
 * ended and whose outcome the handler has not received yet. The handler receives each outcome once,
 * in the order in which the operations ended, and only between two steps of the client. So the
 * client's state is consistent when the handler submits operations or throws.
 */
public final class Outcomes {
  /** Null for a blocking client, which examines its operations itself. */
  private final OperationHandler handler;

  /** A ring; each operation is in it at most once. */
  private final Operation[] ended;

  private int first;
  private int count;

  /** The number of operations that have begun and whose outcome was not passed on. */
  private int active;

  /** Whether operations have begun since the last {@link #takeBegun}. */
  private boolean begun;

  /**
   * The first exception of a handler since {@link #rethrow}, with later ones suppressed; null when
   * there was none.
   */
  private Throwable thrown;

  /**
   * @param handler is told how operations end; null for a blocking client
   */
  public Outcomes(OperationHandler handler, int operations) {
    this.handler = handler;
    this.ended = new Operation[operations];
  }

  public int active() {
    return active;
  }

  /** Whether operations are active besides one that has just ended. */
  public boolean othersActive() {
    // A blocking client no longer counts the operation that has just ended.
    return active > (handler == null ? 0 : 1);
  }

  /** Whether operations have begun since the last call. */
  public boolean takeBegun() {
    boolean some = begun;
    begun = false;
    return some;
  }

  /** Notes that an operation begins. */
  void opened() {
    active++;
    begun = true;
  }

  /** Notes that an operation has ended. */
  void ended(Operation operation) {
    if (handler == null) {
      active--;
    } else {
      add(operation);
    }
  }

  /** Notes an operation of an asynchronous client that ended in the call that submitted it. */
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
   * Passes the outcomes of all operations that have ended so far to the handler. The outcome of an
   * operation that the handler submits during this call is passed on in the next call, so that a
   * handler that always submits can't keep this call from returning.
   *
   * @return how many outcomes were passed on
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

  /** Throws the exception of a handler, if there was one. */
  public void rethrow() {
    Throwable e = thrown;
    thrown = null;
    switch (e) {
      case null -> {
        // No handler has thrown an exception.
      }
      case RuntimeException unchecked -> throw unchecked;
      case Error error -> throw error;
      // Handlers declare no checked exceptions, but may still throw one.
      default -> throw new UndeclaredThrowableException(e);
    }
  }
}
