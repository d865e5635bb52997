package io.erda.client.calls;

import io.erda.client.ClientOptions;
import io.erda.client.gets.Get;
import io.erda.client.iteration.Scan;
import io.erda.client.operations.Operation;
import io.erda.client.operations.StatsQuery;
import io.erda.client.operations.Step;
import io.erda.client.puts.Put;
import io.erda.pmem.MemoryGuard;
import io.erda.protocol.ErdaException;
import io.erda.rdma.Poller;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * Turns operations into calls: drive the core, poll for a bounded time, then sleep until something
 * completes.
 */
public final class BlockingCalls {
  /** A sleep is bounded, because time-outs of operations are checked between two sleeps. */
  private static final long AWAIT_NS = 100_000_000;

  private static final long RECONNECT_PAUSE_NS = 1_000_000;
  private static final long RECONNECT_PAUSE_NS_MAX = 64_000_000;

  /**
   * The number of calls without a poll after which one poll is made, so that the client learns that
   * a server has left.
   */
  private static final int CALLS_PER_POLL = 64;

  /** The number of short gets after which a virtual thread gives its carrier up. */
  private static final int CALLS_PER_PAUSE = 1_024;

  /** How many short gets any other call counts for, because it may take so much longer. */
  private static final int LONG_CALL = 16;

  private final ClientCore core;
  private final Confinement confinement;
  private Poller poller;
  private int atOnce;

  /** The cost of the calls since the last {@link #giveWay} that ended in a pause, in short gets. */
  private int unpaused;

  public BlockingCalls(ClientCore core, Confinement confinement) {
    this.core = core;
    this.confinement = confinement;
  }

  /**
   * Waits until the first connection is made. A connection that the server accepts and ends at once
   * is tried again within the time-out: a server does so while it opens its store again, and when
   * many connect to it at the same moment.
   *
   * @throws ErdaException when no connection can be made
   */
  public void connect() {
    long asked = core.context.options().pollingNs();
    poller = poller(asked == ClientOptions.SERVER_HINT ? Poller.DEFAULT_BUDGET_NS : asked);
    long deadlineNs = core.context.now() + core.context.options().connectTimeout().toNanos();
    long pauseNs = RECONNECT_PAUSE_NS;
    ErdaException earlier = null;
    core.connect();
    while (!core.connected()) {
      boolean inTime = core.context.now() - deadlineNs < 0;
      ErdaException failure = core.connectFailure();
      if (failure != null) {
        if (!inTime || !core.isEndedAtOnce()) {
          throw failure;
        }
        earlier = failure;
        LockSupport.parkNanos(this, pauseNs);
        pauseNs = Math.min(2 * pauseNs, RECONNECT_PAUSE_NS_MAX);
        core.connect();
      } else if (!inTime && earlier != null) {
        throw earlier;
      }
      turn(core.doWork());
    }
    if (asked == ClientOptions.SERVER_HINT) {
      poller = poller(Math.max(0, core.context.store().welcome().pollingNs()));
    }
  }

  private Poller poller(long budgetNs) {
    return new Poller(
        core.context.nanoTime(), Math.min(Poller.DEFAULT_SPIN_NS, budgetNs), budgetNs);
  }

  /**
   * Returns the get that each call uses.
   *
   * @throws IllegalStateException when an Error interrupted the get of an earlier call
   */
  public Get freeGet() {
    Get get = core.freeGet();
    if (get == null) {
      throw leftInTheMiddle();
    }
    return get;
  }

  private Put freePut() {
    Put put = core.freePut();
    if (put == null) {
      throw leftInTheMiddle();
    }
    return put;
  }

  /**
   * Returns the exception for an operation whose state is unknown: an Error, such as a stack
   * overflow, interrupted the operation and then also the code that ends it.
   */
  static IllegalStateException leftInTheMiddle() {
    return new IllegalStateException(
        "an earlier call of this client was left in the middle by an Error, so the client can't be"
            + " used any more; close it");
  }

  /**
   * Whether an Error has interrupted an operation, so that the operation's state is unknown.
   * REQUIRES: no call is under way.
   */
  public boolean isLeftInTheMiddle() {
    return !core.slotsAreFree();
  }

  /** Runs a get whose key is set. Its result is valid until the next get begins. */
  public void run(Get get) {
    if (get.runNow()) {
      if ((++atOnce & CALLS_PER_POLL - 1) == 0) {
        core.doWork();
        giveWay(CALLS_PER_POLL);
      }
      return;
    }
    try {
      get.begin();
      drive(get);
    } catch (RuntimeException | Error e) {
      throw cutShort(get, e);
    }
    if (get.error != null) {
      throw free(get);
    }
    get.step = Step.IDLE;
  }

  /**
   * Does a put, or a delete when {@code value} is null. Returns for a delete whether the key had a
   * value.
   */
  public boolean put(MemorySegment key, MemorySegment value) {
    // The poll shows whether the server has ended before the client sends a request. Then the put
    // fails as "unavailable", not as "unknown". When the put needs no message, poll only now and
    // then.
    if (!core.publishesNow() || (++atOnce & CALLS_PER_POLL - 1) == 0) {
      core.doWork();
    }
    Put put = freePut();
    put.build(key, value);
    run(put);
    return put.existed;
  }

  /**
   * Does a put if the key has no value. Returns whether it was done. A get comes first, so that no
   * space of the log is taken when the key has a value; both have one time-out.
   */
  public boolean putIfAbsent(MemorySegment key, MemorySegment value) {
    Get get = freeGet();
    get.key(key);
    // A get that needs no wait sets no deadline, and would leave that of an earlier one.
    get.stamped = false;
    run(get);
    if (get.length >= 0) {
      return false;
    }
    core.doWork();
    Put put = freePut();
    put.buildIfAbsent(key, value);
    run(put, get);
    return !put.conflict;
  }

  /**
   * Does a put, or a delete when {@code value} is null, if the key has the expected value. Returns
   * whether it was done.
   */
  public boolean putIfEqual(MemorySegment key, MemorySegment expected, MemorySegment value) {
    core.doWork();
    Put put = freePut();
    put.buildIfEqual(key, expected, value);
    run(put);
    return !put.conflict;
  }

  private void run(Put put) {
    run(put, null);
  }

  /**
   * Runs a put.
   *
   * @param earlier the first part of the same call, whose deadline the put has, too; null when
   *     there is none
   */
  private void run(Put put, Operation earlier) {
    try {
      put.begin();
      if (earlier != null) {
        put.stamped = earlier.stamped;
        put.deadlineNs = earlier.deadlineNs;
      }
      drive(put);
    } catch (RuntimeException | Error e) {
      throw cutShort(put, e);
    }
    if (put.error != null) {
      throw free(put);
    }
    put.step = Step.IDLE;
  }

  /** Moves an iteration to its next key, or to its end. */
  public void next(Scan scan) {
    if (scan.runNow()) {
      giveWay(LONG_CALL);
      return;
    }
    try {
      scan.begin();
      drive(scan);
    } catch (RuntimeException | Error e) {
      throw cutShort(scan, e);
    }
    if (scan.error != null) {
      throw free(scan);
    }
    scan.step = Step.IDLE;
  }

  /**
   * Asks the server to clean a head, −1 for all. Returns the figures when the server has noted the
   * request.
   */
  public Map<String, Long> clean(int head) {
    core.doWork();
    return figures(head, true);
  }

  public Map<String, Long> stats() {
    core.doWork();
    return figures(0, false);
  }

  private Map<String, Long> figures(int head, boolean clean) {
    StatsQuery query = core.query();
    try {
      if (clean) {
        query.beginCleaning(head);
      } else {
        query.begin();
      }
      drive(query);
    } catch (RuntimeException | Error e) {
      throw cutShort(query, e);
    }
    if (query.error != null) {
      throw free(query);
    }
    query.step = Step.IDLE;
    return query.figures;
  }

  /**
   * Ends an operation that an exception cut short, so that its slot can be used again. Returns the
   * exception to throw; for a fault in shared memory this is the operation's outcome.
   */
  private RuntimeException cutShort(Operation operation, Throwable e) {
    boolean ended = !operation.active();
    if (!ended) {
      core.cutShort(operation, e);
    }
    operation.step = Step.IDLE;
    if (!ended && MemoryGuard.isFault(e)) {
      operation.error.addSuppressed(e);
      return operation.error;
    }
    if (e instanceof Error error) {
      throw error;
    }
    return (RuntimeException) e;
  }

  // Methods for calls with several keys: see BatchCalls.

  /** Works until none of the first {@code count} operations is under way. */
  void drive(Operation[] operations, int count) {
    poller.reset();
    int done = 0;
    while (done < count) {
      if (!operations[done].active()) {
        done++;
        continue;
      }
      int work = core.doWork();
      if (operations[done].active()) {
        if (confinement.isClosing()) {
          // Closing takes back requests that were sent, so that each operation has an outcome.
          core.close();
        } else {
          turn(work);
        }
      }
    }
    giveWay(LONG_CALL * count);
  }

  /** Counts gets that ended without a poll, so that one is made now and then. */
  void endedAtOnce(int gets) {
    atOnce += gets;
    if (atOnce >= CALLS_PER_POLL) {
      atOnce = 0;
      core.doWork();
    }
    giveWay(gets);
  }

  /**
   * Has a virtual thread sleep for a moment after many calls, which may have waited for nothing.
   * Otherwise it keeps its carrier, and other virtual threads get none as long as it makes such
   * calls alone. After {@link Thread#yield} a carrier may take turns among its own threads, and
   * come to no other.
   *
   * @param cost of the calls since the last time, in short gets
   */
  private void giveWay(int cost) {
    unpaused += cost;
    if (unpaused >= CALLS_PER_PAUSE) {
      unpaused = 0;
      if (Thread.currentThread().isVirtual()) {
        LockSupport.parkNanos(this, 1);
      }
    }
  }

  private static ErdaException free(Operation operation) {
    operation.step = Step.IDLE;
    return operation.error;
  }

  private void drive(Operation operation) {
    poller.reset();
    while (operation.step != Step.DONE) {
      int work = core.doWork();
      if (operation.step != Step.DONE) {
        if (confinement.isClosing()) {
          throw closedDuring(operation);
        }
        turn(work);
      }
    }
    giveWay(LONG_CALL);
  }

  /**
   * Closes the client on behalf of another thread that waits to close it. This takes back requests
   * that were sent, so that this call's operation gets an outcome.
   */
  private RuntimeException closedDuring(Operation operation) {
    String during =
        confinement.closedBy().getMessage() + " during " + article(operation.describe());
    core.close();
    return operation.error instanceof ErdaException.OutcomeUnknown unknown
        ? unknown
        : new IllegalStateException(during);
  }

  private static String article(String what) {
    return (what.startsWith("iteration") ? "an " : "a ") + what;
  }

  /** Polls again, or sleeps when polling found nothing for long enough. */
  private void turn(int work) {
    if (!poller.mayPoll(work)) {
      core.await(AWAIT_NS);
      poller.reset();
    }
  }
}
