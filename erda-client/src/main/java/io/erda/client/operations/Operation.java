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
 * One operation in flight, reused for the next. A state machine: {@code step} says what it waits
 * for; completions, responses and the turns of the client advance it. Whatever can't go on at once
 * (queue full, no connection) is taken up again in a later turn.
 */
public abstract class Operation {
  /** Hears of operations that begin and end. */
  public interface Listener {
    void opened();

    void ended(Operation operation);
  }

  /** How often one operation goes on after its connection was lost. */
  private static final int SESSIONS_LOST_MAX = 3;

  protected final ClientContext context;
  protected final Connections connections;
  private final Listener listener;

  /** Place of its request in every session. */
  public final int slot;

  public Step step = Step.IDLE;

  /** A post was refused because a queue was full; {@link #resume()} posts again. */
  public boolean stalled;

  public long token;
  public ErdaException error;

  /** Meaningful once {@link #stamped}: the clock is read only for operations that wait. */
  public long deadlineNs;

  public boolean stamped;
  public long wakeNs;

  /** Whether it can't go on without a server. */
  protected boolean needsServer;

  /** Whether a server is starting: then no connection yet is no reason to give up early. */
  public boolean patient;

  /** Attempts to connect that had begun when it began to wait: they decide nothing for it. */
  public long attemptsBefore;

  public Session session;
  private int sessionsLost;

  /** Why it does not go on with another connection: its time is over. Null while it is not. */
  private String tooLate;

  protected Operation(ClientContext context, Connections connections, Listener listener, int slot) {
    this.context = context;
    this.connections = connections;
    this.listener = listener;
    this.slot = slot;
  }

  /** Whether there is a connection that it could go on with. */
  public boolean hasSession() {
    return connections.readSession(needsServer) != null;
  }

  /** Starts over, with the connection there is. */
  public abstract void restart();

  /** Goes on where a post was refused. */
  public abstract void resume();

  /**
   * The response to its request arrived. Its bytes are from outside; {@code length} was compared
   * with the header.
   */
  public abstract void onResponse(
      int type, int result, MemorySegment memory, long base, int length);

  /** Whether a request of its own was posted that may take effect. */
  public boolean published() {
    return false;
  }

  /** Whether one may have been posted: an exception may have cut the sending itself short. */
  protected boolean mayHaveBeenSent() {
    return published();
  }

  /** Whether a server that is through with its request has thereby decided what becomes of it. */
  protected boolean isDecidedByItsRequest() {
    return true;
  }

  /** Whether a session whose server is gone is still good for what this waits for. */
  protected boolean outlives(Session lost) {
    return false;
  }

  /** It ended: {@link #error} says how. Whoever asked was not told yet. */
  protected void onEnded() {}

  /** Names the operation in messages. */
  public abstract String describe();

  /** Tells whoever asked. */
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
    listener.opened();
  }

  protected final void finish() {
    assert step != Step.DONE : describe() + " ends twice";
    step = Step.DONE;
    stalled = false;
    session = null;
    listener.ended(this);
    onEnded();
  }

  public final void fail(ErdaException reason) {
    // Without a reason it would be taken for a success.
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
   * The connection is gone, or good for nothing any more. A request that the server did not take is
   * as if it had never been sent.
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

  /** The client is closed. */
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

  /** An exception ended the work on it, nobody knows where. REQUIRES: its connection was failed. */
  public final void cutShort(String why) {
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

  /** The file that could not be reached last, and why, in brackets; empty where none is known. */
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
