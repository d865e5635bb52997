package io.erda.server;

import io.erda.server.engine.service.Turn;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The turn in which one thread at a time takes steps of a server.
 *
 * <p>A counter holds how often a step was requested. The thread that raises it from 0 has the turn.
 * It sets the counter back to 0 only if no request has come since its last step began. So a step
 * that begins after a request sees each message that was sent before the request, and all stores of
 * a step happen before the next step.
 *
 * <p>After an error in a step the state may be inconsistent, so the turn is never released, and no
 * thread takes another step. Any thread may call {@link #take(BooleanSupplier)}, only the server's
 * thread the other methods.
 */
final class StepTurn implements Turn {
  /**
   * The counter's value after the end: so low that further requests never raise it to 0, so no
   * thread gets a turn.
   */
  private static final int ENDED = Integer.MIN_VALUE / 2;

  /** How many times the server's thread tries to get the turn before it yields the core. */
  private static final int SPINS = 100;

  private static final long PAUSE_NS = 20_000;

  final AtomicInteger asked = new AtomicInteger();

  /** Clients that wait for their turn to publish: the server's thread lets them go first. */
  final AtomicInteger waiting = new AtomicInteger();

  /**
   * The error that ended a step; null while there was none. The thread that has the turn stores it,
   * without a call, for which its stack may have no room.
   */
  volatile Throwable failure;

  StepTurn() {
    // The JVM resolves a field at the first store, which needs room on the stack; so the first
    // store is made here.
    this.failure = null;
  }

  @Override
  public boolean take(BooleanSupplier step) {
    if (!asked.compareAndSet(0, 1)) {
      return false;
    }
    try {
      boolean done = step.getAsBoolean();
      return !release() && done;
    } catch (Throwable e) {
      failure = e;
      return false;
    }
  }

  /** Waits for the turn. Throws the error of a step that failed. */
  void take() {
    for (int i = 0; i < SPINS && waiting.getAcquire() > 0; i++) {
      Thread.onSpinWait();
    }
    for (int tries = 0; !asked.compareAndSet(0, 1); tries++) {
      rethrow(failure);
      if (tries < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(PAUSE_NS);
      }
    }
  }

  /** Ends the turn. Returns whether another step was requested during the turn. */
  boolean release() {
    return asked.getAndSet(0) != 1;
  }

  /** Notes that a step failed in the turn of the server's thread. No thread takes another step. */
  void fail(Throwable e) {
    failure = e;
    asked.set(ENDED);
  }

  /** Waits for the turn, and keeps it. Throws the error of a step that failed. */
  void end() {
    rethrow(failure);
    take();
    asked.set(ENDED);
  }

  private static void rethrow(Throwable e) {
    switch (e) {
      case null -> {
        // No step has failed.
      }
      case RuntimeException unchecked -> throw unchecked;
      case Error error -> throw error;
      default -> throw new IllegalStateException("a step of the server failed", e);
    }
  }
}
