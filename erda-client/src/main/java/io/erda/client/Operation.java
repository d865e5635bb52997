package io.erda.client;

import io.erda.protocol.ErdaException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * One operation in flight, reused for the next. A state machine: {@code step} says what it waits
 * for; completions, responses and {@link ClientCore} advance it. Whatever can't go on at once
 * (queue full, no connection) is taken up again by the core.
 */
abstract sealed class Operation permits Get, Put, StatsQuery {
  static final int IDLE = 0;
  static final int DONE = 1;

  /** For a connection that will do: see {@code usable}. */
  static final int WAIT_SESSION = 2;

  /** For a newer region map of its session. */
  static final int WAIT_MAP = 3;

  /** Until {@link #wakeNs}. */
  static final int BACKOFF = 4;

  /** The steps of the kinds of operation begin here. */
  static final int OWN_STEPS = 8;

  /** How often one operation goes on after its connection was lost. */
  private static final int SESSIONS_LOST_MAX = 3;

  final ClientCore core;

  /** Place of its request in every session. */
  final int slot;

  int step;

  /** A post was refused because a queue was full; {@link #resume()} posts again. */
  boolean stalled;

  long token;
  ErdaException error;

  /** Meaningful once {@link #stamped}: the clock is read only for operations that wait. */
  long deadlineNs;

  boolean stamped;
  long wakeNs;

  /** What it goes on with is known to the server alone. */
  boolean needsServer;

  /** A server is starting: no connection yet is no reason to give up before the time is over. */
  boolean patient;

  /** Attempts to connect that had begun when it began to wait: they decide nothing for it. */
  long attemptsBefore;

  Session session;
  private int sessionsLost;

  /** Why it does not go on with another connection: its time is over. Null while it is not. */
  private String tooLate;

  Operation(ClientCore core, int slot) {
    this.core = core;
    this.slot = slot;
  }

  /** Starts over, with the connection there is. */
  abstract void restart();

  /** Goes on where a post was refused. */
  abstract void resume();

  /**
   * The response to its request. Bytes from outside; {@code length} was compared with the header.
   */
  abstract void onResponse(int type, int result, MemorySegment memory, long base, int length);

  /** Whether a request of its own was posted that may take effect. */
  boolean published() {
    return false;
  }

  /** The same, where the sending itself may have been cut short. */
  boolean mayHaveBeenSent() {
    return published();
  }

  /** Whether {@code session}, whose server is gone, is still good for what this waits for. */
  boolean outlives(Session session) {
    return false;
  }

  /** The operation in words, for messages. */
  abstract String describe();

  /** Tells whoever asked. */
  abstract void deliver(OperationHandler handler);

  final boolean active() {
    return step > DONE;
  }

  final void open() {
    error = null;
    stamped = false;
    stalled = false;
    needsServer = false;
    patient = false;
    sessionsLost = 0;
    tooLate = null;
    core.opened();
  }

  final void finish() {
    step = DONE;
    stalled = false;
    session = null;
    core.finished(this);
  }

  final void fail(ErdaException reason) {
    // Without a reason it would be taken for a success.
    error = Objects.requireNonNull(reason, "reason");
    finish();
  }

  final void stall() {
    stalled = true;
    core.attention = true;
  }

  final void awaitSession() {
    step = WAIT_SESSION;
    attemptsBefore = core.attempts();
    stalled = false;
    core.attention = true;
  }

  final void backOff(long ns) {
    step = BACKOFF;
    wakeNs = core.nanoTime.getAsLong() + ns;
    core.attention = true;
  }

  /**
   * The connection is gone, or good for nothing any more. What of its request the server did not
   * take is as if it had never been sent.
   */
  final void onSessionLost(Session lost) {
    if (session != lost || outlives(lost)) {
      return;
    }
    session = null;
    if (published() && !lost.neverTaken(slot)) {
      fail(lost.unknown(slot, describe()));
    } else if (tooLate != null) {
      fail(
          new ErdaException.Unavailable(
              published() ? tooLate + "; the server did not take it, and never will" : tooLate));
    } else if (++sessionsLost > SESSIONS_LOST_MAX) {
      fail(
          new ErdaException.Unavailable(
              describe()
                  + ": "
                  + sessionsLost
                  + " connections were lost, the last one: "
                  + lost.reason()));
    } else {
      awaitSession();
    }
  }

  /** The client is closed. */
  final void onClosed(Session ended) {
    String what = describe() + ": the client was closed";
    fail(
        published() && session == ended && !ended.neverTaken(slot)
            ? ended.unknown(slot, describe())
            : new ErdaException.Unavailable(what));
  }

  /** An exception ended the work on it, nobody knows where. REQUIRES: its connection was failed. */
  final void cutShort(String why) {
    Session used = session;
    fail(
        mayHaveBeenSent() && used != null && !used.neverTaken(slot)
            ? used.unknown(slot, describe())
            : new ErdaException.Unavailable(why));
  }

  /**
   * The time is over. Whatever was posted is taken back by ending the connection; of what the
   * server has in its hands by then the answer is waited for, for a bounded time.
   */
  final void expire() {
    if (tooLate != null) {
      return;
    }
    tooLate =
        describe() + " got no answer within " + core.options.operationTimeout().toMillis() + " ms";
    if (session != null && step != BACKOFF) {
      session.leave(tooLate);
    }
    if (!published()) {
      fail(new ErdaException.Unavailable(tooLate + waitingFor()));
    }
  }

  private String waitingFor() {
    return switch (step) {
      case WAIT_SESSION -> ": no connection; " + core.lastLoss();
      case WAIT_MAP -> ": waiting for the region map";
      case BACKOFF -> ": entries of the table were being moved all the time";
      default -> "";
    };
  }
}
