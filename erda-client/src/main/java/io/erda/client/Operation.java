package io.erda.client;

import io.erda.protocol.ErdaException;
import io.erda.rdma.QueuePair;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * One operation in flight, reused for the next. A state machine: {@code step} says what it waits
 * for; completions, responses and the turns of the client advance it. Whatever can't go on at once
 * (queue full, no connection) is taken up again in a later turn.
 */
abstract class Operation {
  /** Hears of operations that begin and end. */
  interface Listener {
    void opened();

    void ended(Operation operation);
  }

  static final int IDLE = 0;
  static final int DONE = 1;

  /** It waits for a connection that will do: see {@link Connections#readSession}. */
  static final int WAIT_SESSION = 2;

  /** It waits for a newer region map of its session. */
  static final int WAIT_MAP = 3;

  /** It waits until {@link #wakeNs}. */
  static final int BACKOFF = 4;

  /** The steps of the kinds of operation begin here. */
  static final int OWN_STEPS = 8;

  /** How often one operation goes on after its connection was lost. */
  private static final int SESSIONS_LOST_MAX = 3;

  final ClientContext context;
  final Connections connections;
  private final Listener listener;

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

  /** Whether it can't go on without a server. */
  boolean needsServer;

  /** Whether a server is starting: then no connection yet is no reason to give up early. */
  boolean patient;

  /** Attempts to connect that had begun when it began to wait: they decide nothing for it. */
  long attemptsBefore;

  Session session;
  private int sessionsLost;

  /** Why it does not go on with another connection: its time is over. Null while it is not. */
  private String tooLate;

  Operation(ClientContext context, Connections connections, Listener listener, int slot) {
    this.context = context;
    this.connections = connections;
    this.listener = listener;
    this.slot = slot;
  }

  /** Whether there is a connection that it could go on with. */
  boolean hasSession() {
    return connections.readSession(needsServer) != null;
  }

  /** Starts over, with the connection there is. */
  abstract void restart();

  /** Goes on where a post was refused. */
  abstract void resume();

  /**
   * The response to its request arrived. Its bytes are from outside; {@code length} was compared
   * with the header.
   */
  abstract void onResponse(int type, int result, MemorySegment memory, long base, int length);

  /** Whether a request of its own was posted that may take effect. */
  boolean published() {
    return false;
  }

  /** Whether one may have been posted: an exception may have cut the sending itself short. */
  boolean mayHaveBeenSent() {
    return published();
  }

  /** Whether a server that is through with its request has thereby decided what becomes of it. */
  boolean isDecidedByItsRequest() {
    return true;
  }

  /** Whether a session whose server is gone is still good for what this waits for. */
  boolean outlives(Session lost) {
    return false;
  }

  /** It ended: {@link #error} says how. Whoever asked was not told yet. */
  void onEnded() {}

  /** Names the operation in messages. */
  abstract String describe();

  /** Tells whoever asked. */
  abstract void deliver(OperationHandler handler);

  final boolean active() {
    return step > DONE;
  }

  final void open() {
    assert step == IDLE : describe() + " begins in the place of one that has not ended";
    error = null;
    stamped = false;
    stalled = false;
    needsServer = false;
    patient = false;
    sessionsLost = 0;
    tooLate = null;
    listener.opened();
  }

  final void finish() {
    assert step != DONE : describe() + " ends twice";
    step = DONE;
    stalled = false;
    session = null;
    listener.ended(this);
    onEnded();
  }

  final void fail(ErdaException reason) {
    // Without a reason it would be taken for a success.
    error = Objects.requireNonNull(reason, "reason");
    finish();
  }

  final void stall() {
    stalled = true;
    context.attention().ask();
  }

  final void awaitSession() {
    step = WAIT_SESSION;
    attemptsBefore = connections.attempts();
    stalled = false;
    context.attention().ask();
  }

  final void backOff(long ns) {
    step = BACKOFF;
    wakeNs = context.now() + ns;
    context.attention().ask();
  }

  /**
   * The connection is gone, or good for nothing any more. A request that the server did not take is
   * as if it had never been sent.
   */
  final void onSessionLost(Session lost) {
    if (session != lost || outlives(lost)) {
      return;
    }
    session = null;
    if (published() && !lost.neverTaken(slot)) {
      fail(unknownOn(lost));
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
        ended != null && published() && session == ended && !ended.neverTaken(slot)
            ? unknownOn(ended)
            : new ErdaException.Unavailable(what));
  }

  private ErdaException.OutcomeUnknown unknownOn(Session ended) {
    return ended.unknown(slot, describe(), isDecidedByItsRequest());
  }

  /** An exception ended the work on it, nobody knows where. REQUIRES: its connection was failed. */
  final void cutShort(String why) {
    Session used = session;
    assert used == null || used.failed() : "its connection is still used";
    fail(
        mayHaveBeenSent() && used != null && !used.neverTaken(slot)
            ? unknownOn(used)
            : new ErdaException.Unavailable(why));
  }

  /**
   * The time is over. Whatever was posted is taken back by ending the connection; where the server
   * has it in its hands by then, its answer is waited for, for a bounded time.
   */
  final void expire() {
    if (tooLate != null) {
      return;
    }
    tooLate =
        describe()
            + " got no answer within "
            + context.options().operationTimeout().toMillis()
            + " ms";
    if (session != null && step != BACKOFF) {
      session.leave(tooLate);
    }
    if (!published()) {
      fail(new ErdaException.Unavailable(tooLate + waitingFor()));
    }
  }

  /** The file that could not be reached last, and why, in brackets; empty where none is known. */
  static String unreached(QueuePair queuePair) {
    String why = queuePair.unreached();
    return why.isEmpty() ? "" : " (" + why + ")";
  }

  private String waitingFor() {
    return switch (step) {
      case WAIT_SESSION -> ": no connection; " + connections.lastLoss();
      case WAIT_MAP -> ": waiting for the region map" + unreached(session.queuePair);
      case BACKOFF -> ": entries were being moved, or another put was undecided, all the time";
      default -> "";
    };
  }
}
