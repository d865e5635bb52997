package io.erda.server;

import io.erda.client.connections.LocalPublisher;
import io.erda.server.engine.service.LocalLine;
import io.erda.server.engine.service.ServerCore;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * The steps of a server in the JVM of its clients, and the puts that the threads of these clients
 * publish themselves. A thread that sends a message while the server's thread sleeps takes the
 * server's next step itself, instead of waking the server's thread, which would cost a system call
 * and another core. So the calling thread does the put, in caches that already hold the object. The
 * server's thread does the long work: cleaning, and making files.
 *
 * <p><b>One at a time.</b> A thread takes steps while it has the {@link StepTurn}.
 *
 * <p><b>Puts without a message</b> ({@link #line}). Clients that put to keys which are there do so
 * at once, sharing the turn ({@code LocalPuts.commit}). For any other put a client takes the turn
 * alone. It takes a step of the server now and then. A client that finds the turn taken waits for
 * it for a moment, and then sends a message instead. The server's thread lets waiting clients go
 * first.
 *
 * <p><b>Errors of a caller.</b> A stack overflow or a lack of memory may cut a step in an
 * application's thread short at any point. Then no thread takes another step, because the state is
 * inconsistent. The stack may have no room for a call, so the thread with the turn first stores its
 * failure to a field, which needs no room on the stack.
 *
 * <p>Any thread may call {@link #help}, and use a line that it owns. Only the server's thread may
 * call the other methods.
 */
final class SharedSteps extends TurnSteps implements LocalPublisher {
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
   * As {@link #CALLS_PER_STEP} for puts that share the turn. They leave it to the server's thread
   * whenever it wants it.
   */
  private static final int SHARED_CALLS_PER_STEP = 1_000;

  /** As {@link #CALLS_PER_STEP_OF_MUCH} for puts that share the turn. */
  private static final int SHARED_CALLS_PER_STEP_OF_MUCH = 64;

  /** The most puts in a row that do not try to share the turn, after others tried in vain. */
  private static final int UNSHARED_MAX = 15;

  /** How many times a client tries to get the turn to publish, before it sends a message. */
  private static final int TURN_SPINS = 1_000;

  private final Runnable wakeup;

  /**
   * @param wakeup wakes the server's thread
   */
  SharedSteps(ServerCore core, Runnable wakeup, LongSupplier nanoTime) {
    super(core, new StepTurn(nanoTime));
    this.wakeup = wakeup;
    // As in the constructor of StepTurn: the JVM resolves the field for each class.
    turn.failure = null;
    turn.sharersFailure = null;
    new OwnLine(null).resolve();
  }

  /**
   * Takes the server's step after a client has sent something while the server's thread slept. When
   * another thread has the turn, that thread takes the step and this call returns. Throws nothing;
   * an error ends the server, in its own thread.
   */
  void help() {
    if (turn.asked.getAndIncrement() != 0) {
      return;
    }
    boolean more;
    try {
      more = turn.awaitSharersOfCaller() ? takeSteps() : leaveTurn();
    } catch (Throwable e) {
      turn.failure = e;
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
   * Ends a turn in which a sharer has stayed. The server's thread waits for it, and takes the steps
   * that were asked for meanwhile.
   */
  private boolean leaveTurn() {
    turn.release();
    return true;
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
      seen = turn.asked.get();
      more = !stepAndArm() || core.hasMore();
    } while (++steps < HELPED_MAX && !turn.asked.compareAndSet(seen, 0));
    if (steps == HELPED_MAX) {
      more |= turn.asked.getAndSet(0) != seen;
    }
    return more;
  }

  @Override
  public Line line(int clientId, int connectionEpoch) {
    return new OwnLine(new LocalLine(clientId, connectionEpoch, core.localPuts().committer()));
  }

  /** A line that publishes in a turn of the calling thread, shared if possible. */
  private final class OwnLine extends StepTurn.Sharer implements Line {
    private final LocalLine line;
    private int calls;
    private boolean isSharer;

    private final BooleanSupplier sharing = this::enterTurn;
    private final BooleanSupplier takingAlone = this::takeTurn;

    /** How many puts may share the turn between two steps. Stored in a turn that is not shared. */
    private int sharedMax = SHARED_CALLS_PER_STEP;

    /** How many puts in a row have tried in vain to share the turn. */
    private int vain;

    /** How many of the next puts do not try. */
    private int unshared;

    OwnLine(LocalLine line) {
      this.line = line;
    }

    /** REQUIRES: no step was taken yet. */
    private void resolve() {
      turn.failure = null;
      turn.sharersFailure = null;
      mark = OUT;
      leave();
    }

    @Override
    public boolean isFree() {
      return turn.asked.getAcquire() == 0;
    }

    @Override
    public int publish(Built object) {
      int outcome = LATER;
      if (isSharer && calls < sharedMax && --unshared < 0) {
        outcome = publishShared(object);
      }
      return outcome == LATER ? publishAlone(object) : outcome;
    }

    private int publishShared(Built object) {
      if (mark == FAILED_WITHIN) {
        return FAILED;
      }
      int outcome = FAILED;
      try {
        if (!enterTurn() && !await(sharing)) {
          return LATER;
        }
        outcome = core.localPuts().commit(line, object);
        if (outcome != LATER) {
          hasNews = true;
          calls++;
        }
        leave();
      } catch (Throwable e) {
        if (mark == OUT) {
          throw e;
        }
        turn.sharersFailure = e;
        mark = FAILED_WITHIN;
      }
      if (mark == FAILED_WITHIN) {
        try {
          wakeup.run();
        } catch (StackOverflowError | OutOfMemoryError e) {
          // As in help(), the server's thread takes a step by itself.
        }
      }
      boolean declined = outcome == LATER;
      vain = declined ? Math.min(vain + 1, UNSHARED_MAX) : 0;
      unshared = vain == 0 ? 0 : vain - 1;
      return outcome;
    }

    @Override
    void takeNote() {
      core.localPuts().takeNoteOf(line);
      sharedMax = core.hasMore() ? SHARED_CALLS_PER_STEP_OF_MUCH : SHARED_CALLS_PER_STEP;
    }

    @Override
    boolean isGone() {
      return core.localPuts().isGone(line);
    }

    private boolean enterTurn() {
      return enter(turn);
    }

    private boolean takeTurn() {
      return turn.asked.compareAndSet(0, 1);
    }

    private int publishAlone(Built object) {
      if (!takeTurn() && !await(takingAlone)) {
        return LATER;
      }
      int outcome = FAILED;
      boolean more = false;
      try {
        if (turn.awaitSharersOfCaller()) {
          outcome = core.localPuts().publish(line, object);
          more = endPut();
        } else {
          outcome = LATER;
          more = leaveTurn();
        }
      } catch (Throwable e) {
        // The outcome of the put is valid even if a step after it failed.
        turn.failure = e;
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

    /** Ends the turn in which a put was published. Returns whether the server's thread has work. */
    private boolean endPut() {
      if (!isSharer && core.localPuts().commits(line)) {
        turn.add(this);
        isSharer = true;
      }
      boolean steps = ++calls >= (core.hasMore() ? CALLS_PER_STEP_OF_MUCH : CALLS_PER_STEP);
      if (steps || !turn.asked.compareAndSet(1, 0)) {
        calls = 0;
        return takeSteps();
      }
      return false;
    }

    /**
     * Waits for a moment until no other thread has the turn alone.
     *
     * @param attempt takes the turn if nobody has it; returns whether it did
     * @return whether an attempt did
     */
    private boolean await(BooleanSupplier attempt) {
      turn.waiting.getAndIncrement();
      try {
        int now = turn.asked.getAcquire();
        for (int i = 0; i < TURN_SPINS && now >= 0; i++) {
          if (now == 0 && attempt.getAsBoolean()) {
            return true;
          }
          Thread.onSpinWait();
          now = turn.asked.getAcquire();
        }
        return false;
      } finally {
        try {
          turn.waiting.getAndDecrement();
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
      return reason == null ? StepFailure.inWords(cause()) : reason;
    }

    @Override
    public Throwable cause() {
      Throwable failure = turn.failure;
      return failure == null ? turn.sharersFailure : failure;
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
}
