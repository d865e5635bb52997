package io.erda.server;

import io.erda.server.engine.service.Turn;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * The turn in which one thread at a time takes steps of a server.
 *
 * <p>A counter holds how often a step was requested. The thread that raises it from 0 has the turn.
 * It sets the counter back to 0 only if no request has come since its last step began. So a step
 * that begins after a request sees each message that was sent before the request, and all stores of
 * a step happen before the next step.
 *
 * <p><b>Sharing.</b> While nobody has the turn, any number of {@link Sharer}s may be in it
 * together, for work that they can do beside each other. A sharer sets a mark of its own and then
 * looks at the counter. Whoever raises the counter then looks at all marks, and waits until they
 * are gone. So at least one of both sees the other one.
 *
 * <p>After an error in a step the state may be inconsistent, so the turn is never released, and no
 * thread takes another step. A sharer that has met an error in the turn stores it, and marks itself
 * for good; then the next thread with the turn fails by that error. Any thread may call {@link
 * #take(BooleanSupplier)}; whoever has just raised the counter, {@link #awaitSharers} and {@link
 * #add}; only the server's thread the other methods.
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

  /**
   * How long a thread of the application waits for a sharer that was stopped in the turn, such as
   * by a debugger. The server's thread waits for as long as that takes.
   */
  private static final long CALLERS_WAIT_NS = 1_000_000_000;

  /** How many turns pass before those are forgotten who do not enter any more. */
  private static final int TURNS_PER_LOOK = 256;

  private static final Sharer[] NOBODY = {};

  /** Encloses each turn, to keep clients of other processes from committing meanwhile. */
  interface Surroundings {
    /** There are none. */
    Surroundings NONE = new Surroundings() {};

    /** Called in a turn, before it does anything else. */
    default void begin() {}

    /** Called in a turn, after all else. Not called when the turn is not released any more. */
    default void end() {}
  }

  /** Keeps the fields of {@link Mark} in a cache line that has nothing else. */
  abstract static class Before {
    @SuppressWarnings("unused")
    private long b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15;
  }

  abstract static class Mark extends Before {
    static final int OUT = 0;

    /** The sharer is in the turn, or looks whether it may be. */
    static final int IN = 1;

    /** The sharer met an error in the turn. It never enters again. */
    static final int FAILED_WITHIN = 2;

    /**
     * One of the three. It is stored to without a call, for which the stack may have no room. Only
     * the sharer stores to it.
     */
    volatile int mark;

    /** Whether there is something to take note of. Stored in the turn. */
    boolean hasNews;
  }

  /** A thread that may be in the turn together with others of its kind. */
  abstract static class Sharer extends Mark {
    private static final VarHandle MARK = handle();

    @SuppressWarnings("unused")
    private long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15;

    private static VarHandle handle() {
      try {
        return MethodHandles.lookup().findVarHandle(Mark.class, "mark", int.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    /** Makes the first store to the mark, which needs room on the stack. */
    Sharer() {
      mark = OUT;
    }

    /**
     * Enters the turn, unless a thread has it alone. REQUIRES: the sharer was added. After true,
     * work that ends without an error is followed by {@link #leave}.
     */
    final boolean enter(StepTurn turn) {
      assert mark == OUT : mark;
      mark = IN;
      if (turn.asked.get() == 0) {
        return true;
      }
      mark = OUT;
      return false;
    }

    /** Leaves the turn. A thread that takes it sees what was stored before. */
    final void leave() {
      MARK.setRelease(this, OUT);
    }

    /**
     * Takes note of what this sharer has done since the last time. Called by the thread that has
     * the turn, before it does anything else.
     */
    abstract void takeNote();

    /** Whether the sharer enters no more. Called as {@link #takeNote}. */
    abstract boolean isGone();
  }

  final AtomicInteger asked = new AtomicInteger();

  /** Clients that wait for their turn to publish: the server's thread lets them go first. */
  final AtomicInteger waiting = new AtomicInteger();

  /**
   * The error that ended a step; null while there was none. The thread that has the turn stores it,
   * without a call, for which its stack may have no room.
   */
  volatile Throwable failure;

  /**
   * The error of a sharer that has failed in the turn; null while there is none. Stored by that
   * sharer, before its mark.
   */
  volatile Throwable sharersFailure;

  /** All sharers. In a turn another array may take the place of this one. */
  private volatile Sharer[] sharers = NOBODY;

  private final LongSupplier nanoTime;

  /** Changed in a turn only, or before the first one. */
  private Surroundings surroundings = Surroundings.NONE;

  private int turnsToLook;

  StepTurn(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    // The JVM resolves a field at the first store, which needs room on the stack; so the first
    // stores are made here.
    this.failure = null;
    this.sharersFailure = null;
  }

  /** Sets the surroundings of the turns. REQUIRES: a turn, or no thread takes one yet. */
  void surround(Surroundings by) {
    surroundings = by;
  }

  @Override
  public boolean take(BooleanSupplier step) {
    if (!asked.compareAndSet(0, 1)) {
      return false;
    }
    try {
      awaitSharers();
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
      pause(tries);
    }
    try {
      awaitSharers();
    } catch (Throwable e) {
      fail(e);
      throw e;
    }
  }

  /**
   * Waits until no sharer is in the turn, and takes note of what they have done. REQUIRES: the
   * calling thread has just got the turn. Throws the error of a sharer that failed.
   */
  void awaitSharers() {
    awaitMarks(Long.MAX_VALUE);
    surroundings.begin();
    takeNotes();
  }

  /**
   * As {@link #awaitSharers}, for a thread of the application, whose calls end within their
   * time-out. Returns false if a sharer stays in the turn: nothing was done then, and the caller
   * gives the turn back to the server's thread.
   */
  boolean awaitSharersOfCaller() {
    if (!awaitMarks(CALLERS_WAIT_NS)) {
      return false;
    }
    takeNotes();
    return true;
  }

  private void takeNotes() {
    rethrow(sharersFailure);
    Sharer[] all = sharers;
    for (Sharer each : all) {
      if (each.hasNews) {
        each.hasNews = false;
        each.takeNote();
      }
    }
    if (all.length > 0 && --turnsToLook < 0) {
      turnsToLook = TURNS_PER_LOOK;
      forgetThoseGone(all);
    }
  }

  /**
   * Waits until no sharer is in the turn. REQUIRES: the counter is not 0, and stays so.
   *
   * <p>A virtual thread does not park: it would give up its carrier while it has the turn, and get
   * none again while the application's other virtual threads compute. It does not wait long: a
   * sharer makes no call that blocks.
   *
   * @param waitNs how long it waits at most
   * @return whether no sharer is in the turn
   */
  private boolean awaitMarks(long waitNs) {
    for (Sharer each : sharers) {
      if (each.mark == Sharer.IN && !awaitOut(each, waitNs)) {
        return false;
      }
    }
    return true;
  }

  private boolean awaitOut(Sharer sharer, long waitNs) {
    boolean parks = !Thread.currentThread().isVirtual();
    long begunNs = nanoTime.getAsLong();
    for (int tries = 0; sharer.mark == Sharer.IN; tries++) {
      if (nanoTime.getAsLong() - begunNs > waitNs) {
        return false;
      }
      pause(parks ? tries : 0);
    }
    return true;
  }

  private void forgetThoseGone(Sharer[] all) {
    boolean any = false;
    for (Sharer each : all) {
      any |= each.isGone();
    }
    if (any) {
      sharers = Arrays.stream(all).filter(each -> !each.isGone()).toArray(Sharer[]::new);
    }
  }

  private static void pause(int tries) {
    if (tries < SPINS) {
      Thread.onSpinWait();
    } else {
      LockSupport.parkNanos(PAUSE_NS);
    }
  }

  /** Adds a sharer. REQUIRES: the calling thread has the turn. */
  void add(Sharer sharer) {
    Sharer[] more = Arrays.copyOf(sharers, sharers.length + 1);
    more[sharers.length] = sharer;
    sharers = more;
  }

  /** Ends the turn. Returns whether another step was requested during the turn. */
  boolean release() {
    surroundings.end();
    return asked.getAndSet(0) != 1;
  }

  /** Notes that a step failed in the turn of the server's thread. No thread takes another step. */
  void fail(Throwable e) {
    failure = e;
    asked.set(ENDED);
  }

  /**
   * Waits for the turn, and keeps it. Throws the error of a step that failed; then nobody releases
   * the turn, and no sharer is in it any more either.
   */
  void end() {
    if (failure != null) {
      awaitMarks(Long.MAX_VALUE);
      rethrow(failure);
    }
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
