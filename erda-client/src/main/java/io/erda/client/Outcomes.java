package io.erda.client;

import java.lang.reflect.UndeclaredThrowableException;

/**
 * The operations of an asynchronous client that have ended and whose handler was not told yet. Each
 * is told once, in the order in which they ended, between two steps of the client and never in the
 * middle of one: whatever the handler does, submits or throws finds the client in order.
 */
final class Outcomes {
  private final ClientCore core;
  private final OperationHandler handler;

  /** A ring; each operation is in it at most once. */
  private final Operation[] ended;

  private int first;
  private int count;

  /** What handlers threw since {@link #rethrow}: the first, with the others as suppressed ones. */
  private Throwable thrown;

  Outcomes(ClientCore core, OperationHandler handler, int operations) {
    this.core = core;
    this.handler = handler;
    this.ended = new Operation[operations];
  }

  /** An operation ended: its step is DONE. */
  void add(Operation operation) {
    int at = first + count++;
    ended[at < ended.length ? at : at - ended.length] = operation;
  }

  /**
   * Tells the handler of all that have ended so far. Of what ends because the handler submits, it
   * hears the next time, so that a handler that always submits does not keep this from returning.
   *
   * @return how many
   */
  int tell() {
    int now = count;
    for (int i = 0; i < now; i++) {
      Operation operation = ended[first];
      first = first + 1 == ended.length ? 0 : first + 1;
      count--;
      core.told();
      try {
        deliver(operation);
      } catch (Throwable e) {
        keep(e);
      } finally {
        operation.step = Operation.IDLE;
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
  void rethrow() {
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
