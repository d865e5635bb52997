package io.erda.client.calls;

import io.erda.client.ErdaUri;
import io.erda.client.OperationHandler;
import io.erda.client.connections.Attention;
import io.erda.client.connections.ClientContext;
import io.erda.client.connections.Connections;
import io.erda.client.connections.Session;
import io.erda.client.gets.DirectGets;
import io.erda.client.gets.Get;
import io.erda.client.iteration.Scan;
import io.erda.client.operations.Operation;
import io.erda.client.operations.Outcomes;
import io.erda.client.operations.StatsQuery;
import io.erda.client.operations.Step;
import io.erda.client.puts.Put;
import io.erda.protocol.ErdaException;
import java.util.concurrent.locks.LockSupport;

/**
 * Gives the operations of one client their turns, over its current connection. Borrows its device.
 * One thread. Only {@link #await} sleeps, and only the blocking façades call it.
 *
 * <p>{@link #doWork()} only polls in the normal case. Anything that needs more work sets {@link
 * Attention}.
 */
public final class ClientCore {
  private static final long AWAIT_WITH_ATTENTION_NS_MAX = 200_000;

  /**
   * The number of idle turns between two readings of the clock. A power of two, so large that
   * reading the clock does not lengthen the wait for an answer.
   */
  private static final int IDLE_TURNS_PER_CLOCK = 16;

  /** How often operations that wait for space check whether the server has retired a region. */
  private static final long ROOM_LOOK_NS = 100_000_000;

  public final ClientContext context;
  private final Attention attention;
  private final Connections connections;
  private final Outcomes outcomes;
  private final Slots slots;
  private final int depth;
  private long nextDeadlineNs;
  private long roomLookedNs;
  private boolean closed;
  private boolean released;

  /** Number of idle turns; the clock is read at each multiple of {@link #IDLE_TURNS_PER_CLOCK}. */
  private int idleTurns;

  /**
   * @param depth how many gets, and as many puts, are in flight at most
   * @param handler is told how operations end; null when the caller examines the operations itself.
   *     A client without a handler has one get and one put until {@link #makeAll} makes the others.
   */
  public ClientCore(ClientContext context, int depth, OperationHandler handler) {
    ErdaException.prepare();
    this.depth = depth;
    this.context = context;
    roomLookedNs = context.now();
    attention = context.attention();
    connections = new Connections(context, Slots.requests(depth));
    outcomes = new Outcomes(handler, Slots.count(depth));
    slots = new Slots(context, connections, outcomes, depth, handler == null ? 1 : depth);
  }

  // Methods for the façades.

  /** A free slot, or null. */
  public Get freeGet() {
    requireOpen();
    return slots.freeGet();
  }

  /** A free slot, or null. */
  public Put freePut() {
    requireOpen();
    return slots.freePut();
  }

  /** Whether no slot is in use. */
  boolean slotsAreFree() {
    return slots.areFree();
  }

  /** How many gets, and as many puts, are in flight at most. */
  int depth() {
    return depth;
  }

  /** Makes all operations: {@link #depth()} gets, and as many puts. */
  public void makeAll() {
    requireOpen();
    slots.make(depth);
  }

  /** Returns one of the gets; after {@link #makeAll} there are {@link #depth()}. */
  Get get(int index) {
    return slots.get(index);
  }

  /** Returns one of the puts; after {@link #makeAll} there are {@link #depth()}. */
  Put put(int index) {
    return slots.put(index);
  }

  DirectGets directGets() {
    return new DirectGets(context, connections, depth);
  }

  boolean isClosed() {
    return closed;
  }

  StatsQuery query() {
    return slots.query();
  }

  /** The iteration of this client. */
  public Scan scan() {
    requireOpen();
    return slots.scan();
  }

  /**
   * Throws when there can be no server for an operation that needs one.
   *
   * @param what the operation, in words
   * @throws ErdaException.ReadOnly when this client only reads
   */
  public void requireServer(String what) {
    requireOpen();
    if (context.device().readsOnly()) {
      throw new ErdaException.ReadOnly(
          what
              + ": this client only reads the files of "
              + context.address()
              + " ("
              + ErdaUri.READ_ONLY
              + "), and has no server to ask; nothing was changed");
    }
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the client is closed");
    }
  }

  /** Returns the number of operations that have begun and whose outcome was not passed on yet. */
  public int active() {
    return outcomes.active();
  }

  /** Whether the next put will probably need no message. */
  boolean publishesNow() {
    Session current = connections.current();
    return current != null && current.line != null && current.line.isFree();
  }

  public boolean connected() {
    return connections.current() != null;
  }

  /** Why the last attempt to connect failed; null when no attempt failed since it began. */
  ErdaException connectFailure() {
    return connections.connectFailure();
  }

  /** Whether the last attempt may succeed when it is made again at once. */
  boolean isEndedAtOnce() {
    return connections.isEndedAtOnce();
  }

  /** Begins to connect, unless that is under way. */
  public void connect() {
    connections.connect(slots);
  }

  /** Notes an operation of an asynchronous client that ended in the call that submitted it. */
  public void endedAtOnce(Operation operation) {
    outcomes.endedAtOnce(operation);
  }

  /**
   * Advances all operations. Returns a measure of the work that was done, 0 when there was none.
   * Never blocks.
   */
  public int doWork() {
    int work = 0;
    Session current = connections.current();
    if (current != null) {
      work = current.poll();
    }
    if (attention.isAsked()) {
      work += attend();
    }
    if (work == 0 && (++idleTurns & IDLE_TURNS_PER_CLOCK - 1) == 0) {
      work = expire();
    }
    return work + outcomes.tell();
  }

  /**
   * Throws the exception of the handler in {@link #doWork}, {@link #await} or {@link #close}, if
   * there was one.
   */
  public void rethrow() {
    outcomes.rethrow();
  }

  /** Sleeps until a work request completes or the time passes. Only for real threads. */
  public void await(long timeoutNs) {
    // The clock is read once after each sleep.
    idleTurns = -1;
    // A caller may do nothing but sleep here, so what has come is always handled.
    boolean armed = connections.arm();
    if (doWork() > 0 || !armed) {
      return;
    }
    long ns = wakesItself() ? Math.min(timeoutNs, AWAIT_WITH_ATTENTION_NS_MAX) : timeoutNs;
    if (!connections.await(ns)) {
      pause(Math.min(ns, AWAIT_WITH_ATTENTION_NS_MAX));
    }
  }

  /**
   * Whether there is work that no completion announces: posting work that was refused before, going
   * on after a pause, connecting again. A client that is only connecting has no such work, because
   * many connecting clients would take the core from the server that they wait for.
   */
  private boolean wakesItself() {
    if (!attention.isAsked()) {
      return false;
    }
    boolean wakes = connections.isDeferred();
    for (Operation each : slots.operations) {
      wakes |=
          each.stalled
              || each.step == Step.BACKOFF
              || each.step == Step.WAIT_SESSION && !connections.isConnecting();
    }
    return wakes;
  }

  /** Sleeps even if the thread's interrupt status is set, and sets it again afterwards. */
  private static void pause(long ns) {
    boolean interrupted = Thread.interrupted();
    LockSupport.parkNanos(ns);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Ends the connection. Operations in flight end with an error. Idempotent; when an error ended
   * the call in the middle, the next call does the rest.
   */
  public void close() {
    if (released) {
      return;
    }
    closed = true;
    try {
      connections.leave("the client was closed");
      slots.close(connections.current());
      outcomes.tell();
    } finally {
      connections.close();
      released = true;
      slots.release();
    }
  }

  /**
   * Ends an operation that an exception cut short, and every connection, because it is unknown
   * which of them was in use.
   */
  void cutShort(Operation operation, Throwable e) {
    String why = operation.describe() + " was cut short by " + e;
    connections.fail(why);
    operation.cutShort(why);
    connections.settle(slots);
  }

  // Rare work.

  private int attend() {
    attention.clear();
    int work = connections.advance(slots);
    for (Operation each : slots.operations) {
      if (each.step == Step.WAIT_SESSION) {
        work += goOn(each);
      } else if (each.step == Step.BACKOFF) {
        work += wake(each);
      } else if (each.stalled) {
        each.resume();
        work += each.stalled ? 0 : 1;
      }
    }
    connections.retryDeferred();
    return work;
  }

  private int goOn(Operation each) {
    if (each.hasSession()) {
      each.restart();
      return 1;
    }
    attention.ask();
    return connections.reconnect(slots) ? 1 : 0;
  }

  private int wake(Operation each) {
    if (context.now() - each.wakeNs < 0) {
      attention.ask();
      return 0;
    }
    each.restart();
    return 1;
  }

  /**
   * Ends operations whose time-out has passed. The clock is read only here, and now and then in
   * idle turns. Returns how many operations ended.
   */
  private int expire() {
    if (outcomes.active() == 0) {
      return 0;
    }
    long now = context.now();
    hearOfRoom(now);
    if (!outcomes.takeBegun() && now - nextDeadlineNs < 0) {
      return 0;
    }
    int ended = 0;
    long timeoutNs = context.options().operationTimeout().toNanos();
    long next = now + timeoutNs;
    for (Operation each : slots.operations) {
      if (each.active()) {
        if (!each.stamped) {
          each.stamped = true;
          each.deadlineNs = now + timeoutNs;
        } else if (now - each.deadlineNs >= 0) {
          each.expire();
          ended++;
          continue;
        }
        next = Math.min(next - now, each.deadlineNs - now) + now;
      }
    }
    nextDeadlineNs = next;
    return ended;
  }

  /**
   * Fetches the map now and then while puts wait for space of the log. The only space may be the
   * file of a cleaned region, which the server reuses only when every client has left the region.
   * This client leaves it when a new map tells of the cleaning.
   */
  private void hearOfRoom(long now) {
    if (now - roomLookedNs < ROOM_LOOK_NS) {
      return;
    }
    roomLookedNs = now;
    for (Operation each : slots.operations) {
      if (each.step == Step.WAIT_LEASE && each.stamped) {
        each.session.refreshMap();
      }
    }
  }
}
