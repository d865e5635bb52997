package io.erda.server;

import io.erda.client.LocalPublisher;
import io.erda.server.engine.service.LocalLine;
import io.erda.server.engine.service.ServerCore;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * The steps of a server that lives in one JVM with its clients: whoever sends it something while it
 * sleeps takes its next step instead of waking its thread, which costs a system call and another
 * core. So a put is done by the thread that asked for it, in caches that hold its object already.
 * What takes long, cleaning and the making of files, remains the server's thread's.
 *
 * <p><b>One at a time.</b> A number says how often a step was asked for; whoever asks when it is 0
 * takes the steps. A thread that is told that somebody else does relies on that one: it sets the
 * number to 0 only if nobody asked since its last step began. So what was sent before it was asked
 * for is seen by a step that begins later, and everything that a step stores happens before the
 * next one.
 *
 * <p><b>Puts without a message.</b> A client takes the turn for its put alone ({@link #line}), and
 * a step of the server now and then. It waits for the turn a moment, in which the server's thread
 * lets it go first, and sends a message when it gets none.
 *
 * <p><b>Errors of a caller.</b> A step in an application's thread may end at the end of that
 * thread's stack, or without memory, anywhere. Nobody takes another step then, for what it has left
 * in the middle. The stack may have no room for a call either, so whoever has the turn says that it
 * failed by a store to a field, which needs none, before anything else.
 *
 * <p>Any thread may call {@link #help} and use a line of its own; the others are for the server's
 * thread.
 */
final class SharedSteps implements Steps, LocalPublisher {
  /** After so many steps for others a client gives the rest to the server's thread. */
  private static final int HELPED_MAX = 8;

  /** After so many puts without a message their thread takes a step. */
  private static final int CALLS_PER_STEP = 64;

  /** While the server has something to do, the thread takes a step after so many puts. */
  private static final int CALLS_PER_STEP_OF_MUCH = 8;

  /** From here on nobody gets a turn any more: no number of questions leads back to 0. */
  private static final int ENDED = Integer.MIN_VALUE / 2;

  /** How often a client looks whether it is its turn to publish, before it sends a message. */
  private static final int TURN_SPINS = 1_000;

  /** How often the server's thread looks again for its turn before it gives the core away. */
  private static final int SPINS = 100;

  private static final long PAUSE_NS = 20_000;

  /** Changes while it is the turn of the server's thread. */
  private ServerCore core;

  private final Runnable wakeup;
  private final AtomicInteger asked = new AtomicInteger();

  /** Clients that wait for their turn to publish: the server's thread lets them go first. */
  private final AtomicInteger waiting = new AtomicInteger();

  /** The error that ended a step; null while none has. After one the turn is never given back. */
  private volatile Throwable failure;

  /**
   * @param wakeup wakes the server's thread
   */
  SharedSteps(ServerCore core, Runnable wakeup) {
    this.core = core;
    this.wakeup = wakeup;
    // The JVM looks the field up at the first store, which may need the room that a stack lacks.
    this.failure = null;
  }

  /**
   * A client has sent something while the server's thread slept: takes the server's step, unless
   * somebody else is about to. Throws nothing; what fails ends the server, in its own thread.
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
        // The server's thread looks by itself, a second later at the latest.
      }
    }
  }

  /**
   * REQUIRES: it is this thread's turn, which ends with this, unless it throws.
   *
   * @return whether the server's thread has something to do
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

  /** Publishes within the caller's turn, if nobody else has one. */
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
        // The outcome of publishNow holds also where a step behind it failed.
        failure = e;
        more = true;
      }
      if (more) {
        try {
          wakeup.run();
        } catch (StackOverflowError | OutOfMemoryError e) {
          // As in help().
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
          // A turn that was taken must not be lost. The server's thread lets clients go first a
          // moment longer than it should from now on.
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
   * Does what was sent, and takes note that the answers went out. Returns whether nothing is left,
   * and who sends something from now on asks again.
   */
  private boolean stepAndArm() {
    core.doWork();
    if (core.noteAnswered() > 0) {
      core.doWork();
    }
    return core.arm();
  }

  @Override
  public int doWork() {
    take();
    int work;
    try {
      work = core.doWork();
    } catch (Throwable e) {
      fail(e);
      throw e;
    }
    return release() ? Math.max(1, work) : work;
  }

  @Override
  public Map<String, Long> figures() {
    take();
    try {
      return core.figures();
    } catch (Throwable e) {
      fail(e);
      throw e;
    } finally {
      // Whether somebody asked for a step meanwhile makes no difference: the server's thread, which
      // calls this, takes one before it sleeps.
      if (failure == null) {
        release();
      }
    }
  }

  @Override
  public long arm() {
    take();
    long sleepNs;
    try {
      sleepNs = core.arm() && core.doWork() == 0 ? core.sleepNsMax() : 0;
    } catch (Throwable e) {
      fail(e);
      throw e;
    }
    return release() ? 0 : sleepNs;
  }

  @Override
  public void change(Supplier<ServerCore> next) {
    take();
    try {
      core = next.get();
    } catch (Throwable e) {
      fail(e);
      throw e;
    }
    release();
  }

  @Override
  public void end() {
    rethrow(failure);
    take();
    asked.set(ENDED);
  }

  /** A step has failed in the server's thread, whose turn it is: nobody takes another one. */
  private void fail(Throwable e) {
    failure = e;
    asked.set(ENDED);
  }

  /** Returns when this thread alone may take steps. */
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

  /** Ends the turn. Returns whether somebody asked for another step meanwhile. */
  private boolean release() {
    return asked.getAndSet(0) != 1;
  }
}
