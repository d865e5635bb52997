package io.erda.server;

import io.erda.client.connections.LocalPublisher;
import io.erda.server.engine.service.LocalLine;
import io.erda.server.engine.service.ServerCore;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * The steps of a server in the JVM of its clients, and the puts that the threads of these clients
 * publish themselves. A thread that sends a message while the server's thread sleeps takes the
 * server's next step itself, instead of waking the server's thread, which would cost a system call
 * and another core. So the calling thread does the put, in caches that already hold the object. The
 * server's thread does the long work: cleaning, and making files.
 *
 * <p><b>One at a time.</b> A counter holds how often a step was requested. The thread that raises
 * it from 0 has the <em>turn</em>, and takes the steps. It sets the counter back to 0 only if no
 * request has come since its last step began. So a step that begins after a request sees each
 * message that was sent before the request, and all stores of a step happen before the next step.
 *
 * <p><b>Puts without a message.</b> A client takes the turn just for its put ({@link #line}), and
 * takes a step of the server now and then. A client that finds the turn taken waits for it for a
 * moment, and then sends a message instead. The server's thread lets waiting clients go first.
 *
 * <p><b>Errors of a caller.</b> A stack overflow or a lack of memory may cut a step in an
 * application's thread short at any point. Then no thread takes another step, because the state is
 * inconsistent. The stack may have no room for a call, so the thread with the turn first stores its
 * failure to a field, which needs no room on the stack.
 *
 * <p>Any thread may call {@link #help}, and use a line that it owns. Only the server's thread may
 * call the other methods.
 */
final class SharedSteps extends Steps implements LocalPublisher {
  /**
   * The most steps that a client takes in one call. It leaves further steps to the server's thread.
   */
  private static final int HELPED_MAX = 8;

  /** The number of puts without a message after which their thread takes a step of the server. */
  private static final int CALLS_PER_STEP = 64;

  /**
   * The number of puts without a message after which their thread takes a step, while the server
   * has other work.
   */
  private static final int CALLS_PER_STEP_OF_MUCH = 8;

  /**
   * The counter's value after the end: so low that further requests never raise it to 0, so no
   * thread gets a turn.
   */
  private static final int ENDED = Integer.MIN_VALUE / 2;

  /** How many times a client tries to get the turn to publish, before it sends a message. */
  private static final int TURN_SPINS = 1_000;

  /** How many times the server's thread tries to get the turn before it yields the core. */
  private static final int SPINS = 100;

  private static final long PAUSE_NS = 20_000;

  private final Runnable wakeup;
  private final AtomicInteger asked = new AtomicInteger();

  /** Clients that wait for their turn to publish: the server's thread lets them go first. */
  private final AtomicInteger waiting = new AtomicInteger();

  /**
   * The error that ended a step; null while there was none. After an error the turn is never
   * released.
   */
  private volatile Throwable failure;

  /**
   * @param wakeup wakes the server's thread
   */
  SharedSteps(ServerCore core, Runnable wakeup) {
    super(core);
    this.wakeup = wakeup;
    // The JVM resolves a field at the first store, which needs room on the stack; so the first
    // store is made here.
    this.failure = null;
  }

  /**
   * Takes the server's step after a client has sent something while the server's thread slept. When
   * another thread has the turn, that thread takes the step and this call returns. Throws nothing;
   * an error ends the server, in its own thread.
   */
  void help() {
    if (asked.getAndIncrement() != 0) {
      return;
    }
    boolean more;
    try {
      more = takeSteps();
    } catch (Throwable e) {
      failure = e;
      more = true;
    }
    if (more) {
      try {
        wakeup.run();
      } catch (StackOverflowError | OutOfMemoryError e) {
        // If no step is taken now, the server's thread takes one by itself after at most a second.
      }
    }
  }

  /**
   * Takes steps in the current thread's turn, and ends the turn unless it throws.
   *
   * @return whether there is work for the server's thread
   */
  private boolean takeSteps() {
    boolean more;
    int seen;
    int steps = 0;
    do {
      seen = asked.get();
      more = !stepAndArm() || core.hasMore();
    } while (++steps < HELPED_MAX && !asked.compareAndSet(seen, 0));
    if (steps == HELPED_MAX) {
      more |= asked.getAndSet(0) != seen;
    }
    return more;
  }

  @Override
  public Line line(int clientId, int connectionEpoch) {
    return new OwnLine(new LocalLine(clientId, connectionEpoch));
  }

  /** A line that publishes within a turn of the calling thread, if no other thread has the turn. */
  private final class OwnLine implements Line {
    private final LocalLine line;
    private int calls;

    OwnLine(LocalLine line) {
      this.line = line;
    }

    @Override
    public boolean isFree() {
      return asked.getAcquire() == 0;
    }

    @Override
    public int publish(Built object) {
      if (!asked.compareAndSet(0, 1) && !awaitTurn()) {
        return LATER;
      }
      int outcome = FAILED;
      boolean more = false;
      try {
        outcome = core.publishNow(line, object);
        boolean steps = ++calls >= (core.hasMore() ? CALLS_PER_STEP_OF_MUCH : CALLS_PER_STEP);
        if (steps || !asked.compareAndSet(1, 0)) {
          calls = 0;
          more = takeSteps();
        }
      } catch (Throwable e) {
        // The outcome of publishNow is valid even if a step after it failed.
        failure = e;
        more = true;
      }
      if (more) {
        try {
          wakeup.run();
        } catch (StackOverflowError | OutOfMemoryError e) {
          // As in help(), the server's thread takes a step by itself.
        }
      }
      return outcome;
    }

    private boolean awaitTurn() {
      waiting.getAndIncrement();
      try {
        int now = asked.getAcquire();
        for (int i = 0; i < TURN_SPINS && now >= 0; i++) {
          if (now == 0 && asked.compareAndSet(0, 1)) {
            return true;
          }
          Thread.onSpinWait();
          now = asked.getAcquire();
        }
        return false;
      } finally {
        try {
          waiting.getAndDecrement();
        } catch (StackOverflowError e) {
          // The turn was taken and must not be lost, so the error is ignored here. The counter of
          // waiting clients stays too high, so the server's thread lets clients go first a little
          // longer than necessary.
        }
      }
    }

    @Override
    public String failure() {
      String reason = core.readOnlyReason();
      return reason == null ? StepFailure.inWords(failure) : reason;
    }

    @Override
    public Throwable cause() {
      return failure;
    }
  }

  /**
   * Handles the messages that were sent, and arms the devices. Returns whether no work is left.
   * From then on a client that sends a message requests a step.
   */
  private boolean stepAndArm() {
    core.doWork();
    if (core.noteAnswered() > 0) {
      core.doWork();
    }
    return core.arm();
  }

  @Override
  int doWork() {
    take();
    int work;
    try {
      work = super.doWork();
    } catch (Throwable e) {
      fail(e);
      throw e;
    }
    return release() ? Math.max(1, work) : work;
  }

  @Override
  Map<String, Long> figures() {
    take();
    try {
      return super.figures();
    } catch (Throwable e) {
      fail(e);
      throw e;
    } finally {
      // It does not matter whether a step was requested in the meantime, because the server's
      // thread, which calls this, takes a step before it sleeps.
      if (failure == null) {
        release();
      }
    }
  }

  @Override
  long arm() {
    take();
    long sleepNs;
    try {
      sleepNs = super.arm();
    } catch (Throwable e) {
      fail(e);
      throw e;
    }
    return release() ? 0 : sleepNs;
  }

  @Override
  void change(Supplier<ServerCore> next) {
    take();
    try {
      super.change(next);
    } catch (Throwable e) {
      fail(e);
      throw e;
    }
    release();
  }

  @Override
  void end() {
    rethrow(failure);
    take();
    asked.set(ENDED);
  }

  /** Notes that a step failed in the turn of the server's thread. No thread takes another step. */
  private void fail(Throwable e) {
    failure = e;
    asked.set(ENDED);
  }

  /** Waits for the turn. */
  private void take() {
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

  /** Ends the turn. Returns whether another step was requested during the turn. */
  private boolean release() {
    return asked.getAndSet(0) != 1;
  }
}
