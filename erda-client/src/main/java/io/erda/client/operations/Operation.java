package io.erda.client.operations;

import io.erda.client.OperationHandler;
import io.erda.client.connections.ClientContext;
import io.erda.client.connections.Connections;
import io.erda.client.connections.Session;
import io.erda.protocol.ErdaException;
import io.erda.rdma.QueuePair;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * One operation in flight; the object is reused for later operations. It is a state machine: {@code
 * step} is the event that it waits for, and completions, responses and the turns of the client
 * advance it. A step that can't be done at once (queue full, no connection) is tried again in a
 * later turn.
 */
public abstract class Operation {
  /** The number of lost connections after which an operation still goes on. */
  private static final int SESSIONS_LOST_MAX = 3;

  protected final ClientContext context;
  protected final Connections connections;
  private final Outcomes outcomes;

  /** The message slot that this operation's request uses in every session. */
  public final int slot;

  public Step step = Step.IDLE;

  /** Whether a post was refused because a queue was full; {@link #resume()} posts again. */
  public boolean stalled;

  public long token;
  public ErdaException error;

  /**
   * The time at which the operation times out; valid only once {@link #stamped}. An operation that
   * ends at once gets none, so that it costs no reading of the clock.
   */
  public long deadlineNs;

  public boolean stamped;
  public long wakeNs;

  /** Whether the operation can't go on without a server. */
  protected boolean needsServer;

  /**
   * Whether a server is starting: then the operation does not give up early for lack of a
   * connection.
   */
  public boolean patient;

  /**
   * The number of attempts to connect when the operation began to wait. An attempt that had begun
   * by then does not end the operation when it fails.
   */
  public long attemptsBefore;

  public Session session;
  private int sessionsLost;

  /**
   * The message of the time-out, because of which the operation does not go on with another
   * connection; null before the time-out.
   */
  private String tooLate;

  protected Operation(ClientContext context, Connections connections, Outcomes outcomes, int slot) {
    this.context = context;
    this.connections = connections;
    this.outcomes = outcomes;
    this.slot = slot;
  }

  /** Whether there is a connection that the operation can go on with. */
  public boolean hasSession() {
    return connections.readSession(needsServer) != null;
  }

  /** Starts over with the current connection. */
  public abstract void restart();

  /** Goes on at the post that was refused. */
  public abstract void resume();

  /**
   * Takes the response to this operation's request. Its bytes are untrusted; {@code length} has
   * been compared with the header.
   */
  public abstract void onResponse(
      int type, int result, MemorySegment memory, long base, int length);

  /** Whether this operation has posted a request that may take effect. */
  public boolean published() {
    return false;
  }

  /** Whether such a request may have been posted: an exception may have interrupted the sending. */
  protected boolean mayHaveBeenSent() {
    return published();
  }

  /**
   * Whether the operation is decided once the server has finished with its request: it took effect,
   * or never will.
   */
  protected boolean isDecidedByItsRequest() {
    return true;
  }

  /** Whether the operation can finish its current step with a session whose server is gone. */
  protected boolean outlives(Session lost) {
    return false;
  }

  /**
   * Called when the operation has ended, before its outcome is passed on; {@link #error} is its
   * exception, or null.
   */
  protected void onEnded() {}

  /** Names the operation in messages. */
  public abstract String describe();

  /** Passes the outcome to the handler. */
  protected abstract void deliver(OperationHandler handler);

  public final boolean active() {
    return step.isActive();
  }

  protected final void open() {
    assert step == Step.IDLE : describe() + " begins in the place of one that has not ended";
    error = null;
    stamped = false;
    stalled = false;
    needsServer = false;
    patient = false;
    sessionsLost = 0;
    tooLate = null;
    outcomes.opened();
  }

  protected final void finish() {
    assert step != Step.DONE : describe() + " ends twice";
    step = Step.DONE;
    stalled = false;
    session = null;
    outcomes.ended(this);
    onEnded();
  }

  public final void fail(ErdaException reason) {
    // An error without a reason would count as success.
    error = Objects.requireNonNull(reason, "reason");
    finish();
  }

  public final void stall() {
    stalled = true;
    context.attention().ask();
  }

  protected final void awaitSession() {
    step = Step.WAIT_SESSION;
    attemptsBefore = connections.attempts();
    stalled = false;
    context.attention().ask();
  }

  protected final void backOff(long ns) {
    step = Step.BACKOFF;
    wakeNs = context.now() + ns;
    context.attention().ask();
  }

  /**
   * Handles the loss of the connection. A request that the server did not take counts as never
   * sent.
   */
  public final void onSessionLost(Session lost) {
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

  /** Ends the operation because the client is closed. */
  public final void onClosed(Session ended) {
    String what = describe() + ": the client was closed";
    fail(
        ended != null && published() && session == ended && !ended.neverTaken(slot)
            ? unknownOn(ended)
            : new ErdaException.Unavailable(what));
  }

  private ErdaException.OutcomeUnknown unknownOn(Session ended) {
    return ended.unknown(slot, describe(), isDecidedByItsRequest());
  }

  /**
   * Ends the operation after an exception interrupted it at an unknown point. REQUIRES: its
   * connection was failed.
   */
  public final void cutShort(String why) {
    Session used = session;
    assert used == null || used.failed() : "its connection is still used";
    fail(
        mayHaveBeenSent() && used != null && !used.neverTaken(slot)
            ? unknownOn(used)
            : new ErdaException.Unavailable(why));
  }

  /**
   * Ends the operation after its time-out. Posted requests are taken back by ending the connection;
   * when the server has taken the request by then its answer is awaited, for a bounded time.
   */
  public final void expire() {
    if (tooLate != null) {
      return;
    }
    tooLate =
        describe()
            + " got no answer within "
            + context.options().operationTimeout().toMillis()
            + " ms";
    if (session != null && step != Step.BACKOFF) {
      session.leave(tooLate);
    }
    if (!published()) {
      fail(new ErdaException.Unavailable(tooLate + waitingFor()));
    }
  }

  /**
   * Returns, in brackets, the file that could not be opened last and the reason; empty when there
   * is none.
   */
  public static String unreached(QueuePair queuePair) {
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
