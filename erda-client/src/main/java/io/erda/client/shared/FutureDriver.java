package io.erda.client.shared;

import io.erda.client.ClientOptions;
import io.erda.client.ClientStatistics;
import io.erda.client.ErdaAsyncClient;
import io.erda.client.OperationHandler;
import io.erda.client.calls.Forgotten;
import io.erda.client.calls.JvmEnd;
import io.erda.client.connections.Devices;
import io.erda.protocol.ErdaException;
import io.erda.protocol.JvmErrors;
import io.erda.rdma.Poller;
import io.erda.rdma.StackRoom;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The thread of an {@code ErdaFutures}: takes over the submitted operations, runs them on an {@link
 * ErdaAsyncClient}, which it owns, and completes the futures.
 *
 * <p><b>Inbox.</b> A submitting thread adds to the inbox, then checks whether this thread sleeps,
 * and if so wakes it. This thread first stores that it sleeps, then checks the inbox. So at least
 * one of the two threads notices the other.
 *
 * <p><b>Room.</b> From the moment at which a submitting thread has taken room for its operation, an
 * error must not end the thread's way before the operation is in the inbox or the room is free
 * again. A stack that overflows would also overflow when the room is given back, so that way begins
 * only where the stack has enough left for all of it, and for waking this thread.
 *
 * <p><b>Closing.</b> A submitting thread adds to the inbox, then checks whether it was closed, and
 * if so tries to take its operation out again; this thread closes the inbox, then empties it. An
 * operation is taken out once, so it is either completed or refused.
 */
public final class FutureDriver {
  /** The longest sleep, in nanoseconds; bounded for the same reason as in a blocking call. */
  private static final long SLEEP_NS = 100_000_000;

  /** How long the thread tries to complete all futures at its end while the heap is exhausted. */
  private static final long END_PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);

  private static final long END_PAUSE_NS = 10_000_000;

  /** How long a closing thread waits for a dependent that does not return. */
  private static final long CLOSE_PATIENCE_NS = TimeUnit.SECONDS.toNanos(5);

  /** How often a closing thread checks whether the JVM is ending. */
  private static final long LOOK_MS = 50;

  /**
   * How many calls of {@link StackRoom#require} take more of the stack, interpreted or compiled,
   * than the calls between taking room and having woken the driver's thread.
   */
  private static final int STACK_CALLS = 128;

  private final int pendingMax;
  private final long waitNs;
  private final Semaphore room;
  private final AtomicInteger pending = new AtomicInteger();
  private final ConcurrentLinkedQueue<FutureOperation> inbox = new ConcurrentLinkedQueue<>();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Poller poller;
  private final Thread thread;

  private volatile boolean asleep;

  /** Whether the thread was asked to end. */
  private volatile boolean closing;

  /**
   * Whether no operation can be submitted any more. Then the thread ends when no operation is
   * pending.
   */
  private volatile boolean abandoned;

  /** Whether the driver's thread takes no more operations out of the inbox. */
  private volatile boolean inboxClosed;

  /** The error that ended the thread; null when the client was closed. */
  private volatile Throwable failure;

  private ErdaAsyncClient client;
  private Runnable wakeup;

  /**
   * Whether the thread completes a future, and so may be in one of the application's dependents.
   */
  private volatile boolean completing;

  // Used only by the driver's thread.
  private final FutureQueues queues = new FutureQueues();

  /** Operations that were passed to the client, by token; free places are null. */
  private final FutureOperation[] begun = new FutureOperation[2 * ClientOptions.PIPELINE_DEPTH_MAX];

  private final int[] freeTokens = new int[begun.length];
  private int free;

  /** The operations that have ended. Their futures are completed between two steps. */
  private final OperationQueue toComplete = new OperationQueue();

  /** Operations that dependents submitted in this thread, and that have not ended. */
  private int own;

  public FutureDriver(ClientOptions options, int pendingMax) {
    this.pendingMax = pendingMax;
    this.waitNs = options.operationTimeout().toNanos();
    this.room = new Semaphore(pendingMax);
    long asked = options.pollingNs();
    long budgetNs = asked == ClientOptions.SERVER_HINT ? Poller.DEFAULT_BUDGET_NS : asked;
    this.poller = new Poller(Devices.CLOCK, Math.min(Poller.DEFAULT_SPIN_NS, budgetNs), budgetNs);
    for (int i = 0; i < begun.length; i++) {
      freeTokens[free++] = i;
    }
    thread = Thread.ofPlatform().daemon().name("erda-futures").unstarted(this::run);
  }

  public OperationHandler handler() {
    return new Handler();
  }

  /**
   * Starts the thread, which owns the client from now on.
   *
   * @param endSleep ends the client's {@code await} in that thread
   */
  public void start(ErdaAsyncClient connecting, Runnable endSleep) {
    client = connecting;
    wakeup = endSleep;
    try {
      thread.start();
    } catch (OutOfMemoryError e) {
      connecting.close();
      throw new ErdaException.Unusable("no thread for futures: " + JvmErrors.tell(e), e);
    }
  }

  /** Returns a future that this driver's thread will complete. */
  public <T> DrivenFuture<T> future() {
    return new DrivenFuture<>(thread);
  }

  public int pending() {
    return pending.get();
  }

  public ClientStatistics statistics() {
    return client.statistics();
  }

  // Called by threads that submit.

  /**
   * Takes over an operation.
   *
   * @throws IllegalStateException when the client is closed; nothing is submitted
   */
  public void submit(FutureOperation operation) {
    requireOpen();
    operation.own = Thread.currentThread() == thread;
    StackRoom.require(STACK_CALLS);
    if (!enter(operation)) {
      return;
    }
    pending.incrementAndGet();
    try {
      inbox.add(operation);
    } catch (Throwable e) {
      // An exhausted heap: nothing was submitted, and the room is free again.
      leave(operation);
      throw e;
    }
    if (inboxClosed) {
      if (inbox.remove(operation)) {
        leave(operation);
        throw closed();
      }
    } else {
      wakeIfAsleep();
    }
  }

  private void requireOpen() {
    if (closing || inboxClosed) {
      throw closed();
    }
  }

  private IllegalStateException closed() {
    Throwable why = failure;
    return why == null
        ? new IllegalStateException("the client is closed")
        : new IllegalStateException("the client ended: " + why, why);
  }

  /**
   * Waits for room among the pending operations. Returns false, and fails the future, when there
   * was none.
   */
  private boolean enter(FutureOperation operation) {
    if (operation.own) {
      if (own < pendingMax) {
        own++;
        return true;
      }
      operation.failed(
          new ErdaException.Unavailable(
              own + " operations of the client's own thread are pending: nothing was sent"));
      operation.complete();
      return false;
    }
    if (room.tryAcquire()) {
      return true;
    }
    if (awaitRoom()) {
      if (closing) {
        room.release();
        throw closed();
      }
      return true;
    }
    requireOpen();
    operation.failed(
        new ErdaException.Unavailable(
            pendingMax
                + " operations are pending, and none ended within "
                + TimeUnit.NANOSECONDS.toMillis(waitNs)
                + " ms: nothing was sent"));
    operation.complete();
    return false;
  }

  private boolean awaitRoom() {
    long beganNs = Devices.CLOCK.getAsLong();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          long leftNs = waitNs - (Devices.CLOCK.getAsLong() - beganNs);
          return room.tryAcquire(leftNs, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Removes an operation from the pending ones, once. */
  private void leave(FutureOperation operation) {
    if (operation.left) {
      return;
    }
    operation.left = true;
    pending.decrementAndGet();
    if (operation.own) {
      own--;
    } else {
      room.release();
    }
  }

  /**
   * Ends the thread, and waits until it has ended, unless it is in {@link System#exit}, which waits
   * for the hook that calls this ({@link JvmEnd}): then the end of the process releases what it
   * holds. A dependent that does not return for a while is not waited for either: the thread ends
   * behind it.
   */
  public void close() {
    closing = true;
    if (Thread.currentThread() == thread) {
      return;
    }
    wakeIfAsleep();
    JvmEnd end = new JvmEnd();
    long inDependentNs = 0;
    long lookedNs = Devices.CLOCK.getAsLong();
    boolean interrupted = false;
    boolean over = false;
    while (!over) {
      try {
        over = ended.await(LOOK_MS, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      long nowNs = Devices.CLOCK.getAsLong();
      inDependentNs = completing ? inDependentNs + nowNs - lookedNs : 0;
      lookedNs = nowNs;
      over |= !end.comesBack(thread) || inDependentNs > CLOSE_PATIENCE_NS;
    }
    if (inDependentNs > CLOSE_PATIENCE_NS) {
      System.getLogger(Forgotten.LOGGER)
          .log(
              Level.WARNING,
              "a dependent of a future does not return: its client is closed when it does");
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends the thread once every future is completed. REQUIRES: nothing more is submitted. */
  public void abandon() {
    abandoned = true;
    wakeIfAsleep();
  }

  private boolean isOver() {
    return closing || (abandoned && pending.get() == 0);
  }

  /**
   * Wakes the thread after something was stored for it. The thread announces its sleep before it
   * checks for work.
   */
  private void wakeIfAsleep() {
    if (asleep) {
      wakeup.run();
    }
  }

  // The driver's thread.

  private void run() {
    try {
      while (!isOver()) {
        int work = turn();
        if (!mayPoll(work)) {
          sleep();
        }
      }
    } catch (Throwable e) {
      failure = e;
    } finally {
      closing = true;
      try {
        end();
      } finally {
        ended.countDown();
      }
    }
  }

  private int turn() {
    int work = takeInbox() + begin(true) + begin(false) + client.doWork();
    return work + tell();
  }

  /** Whether to poll: only while operations are under way; an idle client sleeps at once. */
  private boolean mayPoll(int work) {
    return poller.mayPoll(work) && (work > 0 || free < begun.length);
  }

  private void sleep() {
    asleep = true;
    try {
      if (inbox.isEmpty() && !isOver()) {
        client.await(SLEEP_NS);
      }
    } finally {
      asleep = false;
    }
    poller.reset();
    tell();
  }

  private int takeInbox() {
    int taken = 0;
    for (FutureOperation each = inbox.poll(); each != null; each = inbox.poll()) {
      each.sinceNs = Devices.CLOCK.getAsLong();
      try {
        queues.add(each);
      } catch (Throwable e) {
        each.failed(e);
        toComplete.add(each);
        throw e;
      }
      taken++;
    }
    return taken;
  }

  /** Passes operations to the client as long as it has room. */
  private int begin(boolean gets) {
    int count = 0;
    for (FutureOperation next = queues.next(gets); next != null; next = queues.next(gets)) {
      if (next.future().isDone()) {
        // The operation was cancelled before it began.
        queues.taken(gets);
        over(next);
      } else if (Devices.CLOCK.getAsLong() - next.sinceNs > waitNs) {
        giveUp(next, gets);
      } else if (free == 0 || !submit(next, gets)) {
        break;
      }
      count++;
    }
    return count;
  }

  /**
   * Ends an operation that had no room in the pipeline for a whole time-out. A server that does not
   * answer would otherwise hold it for the time-outs of all operations before it.
   */
  private void giveUp(FutureOperation next, boolean gets) {
    next.failed(
        new ErdaException.Unavailable(
            "waited "
                + TimeUnit.NANOSECONDS.toMillis(waitNs)
                + " ms behind other operations: nothing was sent"));
    queues.taken(gets);
    over(next);
  }

  /** Returns false when the pipeline is full. */
  private boolean submit(FutureOperation next, boolean gets) {
    int token = freeTokens[--free];
    begun[token] = next;
    boolean submitted = false;
    try {
      submitted = next.submit(client, token);
    } catch (ErdaException e) {
      free(token);
      queues.taken(gets);
      next.failed(e);
      over(next);
      return true;
    } catch (RuntimeException | Error e) {
      // The client may have taken the operation; if so, it tells its end when it is closed now.
      queues.taken(gets);
      throw e;
    }
    if (submitted) {
      queues.taken(gets);
    } else {
      free(token);
    }
    return submitted;
  }

  private FutureOperation free(int token) {
    FutureOperation operation = begun[token];
    begun[token] = null;
    freeTokens[free++] = token;
    return operation;
  }

  /** Ends an operation: others of its key may begin, and its future is completed soon. */
  private void over(FutureOperation operation) {
    toComplete.add(operation);
    queues.ended(operation);
  }

  /**
   * Completes futures. This is done outside of all calls of the client, because a dependent may do
   * anything. Futures of operations that end during this call, and those that an exhausted heap
   * keeps from being completed, are completed in the next turn.
   */
  private int tell() {
    int left = toComplete.size();
    if (left == 0) {
      return 0;
    }
    int count = 0;
    completing = true;
    try {
      for (; left > 0; left--) {
        FutureOperation each = toComplete.poll();
        // Make room first: a dependent of this future may submit the next operation.
        leave(each);
        if (complete(each)) {
          count++;
        } else {
          toComplete.add(each);
        }
      }
    } finally {
      completing = false;
    }
    return count;
  }

  private boolean complete(FutureOperation operation) {
    try {
      operation.complete();
      return true;
    } catch (Throwable e) {
      // A future stores the exceptions of its dependents, so this is an Error of the future itself,
      // such as a stack overflow or an exhausted heap.
      report(e);
      return operation.future().isDone();
    }
  }

  private void report(Throwable e) {
    try {
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    } catch (Throwable again) {
      // The heap may have no room for the report either.
    }
  }

  /**
   * Closes the client, and completes all futures. An exhausted heap may have ended this thread, and
   * may still be exhausted, so what fails is tried again for a while.
   */
  private void end() {
    inboxClosed = true;
    try {
      client.close();
    } catch (Throwable e) {
      failure = failure == null ? e : failure;
    }
    long beganNs = Devices.CLOCK.getAsLong();
    boolean done = false;
    while (!done) {
      try {
        failTheRest();
        tell();
        done = toComplete.isEmpty();
      } catch (Throwable e) {
        report(e);
      }
      done = done || Devices.CLOCK.getAsLong() - beganNs > END_PATIENCE_NS;
      pauseUnless(done);
    }
  }

  private void pauseUnless(boolean done) {
    if (!done) {
      try {
        LockSupport.parkNanos(this, END_PAUSE_NS);
      } catch (Throwable e) {
        // Even to load this class may take room that the heap does not have: then it is no pause.
      }
    }
  }

  /** Notes of all operations that have not ended that they failed. */
  private void failTheRest() {
    ErdaException never =
        new ErdaException.Unavailable(
            failure == null
                ? "the client was closed before this was sent"
                : "the client ended before this was sent: " + failure);
    Consumer<FutureOperation> fail =
        each -> {
          each.failed(never);
          toComplete.add(each);
        };
    queues.drain(fail);
    for (int token = 0; token < begun.length; token++) {
      FutureOperation each = begun[token];
      if (each != null) {
        // The client has not told its end, so it failed itself, and may have sent the operation.
        each.failed(
            each.isGet()
                ? never
                : new ErdaException.OutcomeUnknown(
                    "the client ended while this was under way: " + failure, false));
        begun[token] = null;
        toComplete.add(each);
      }
    }
    for (FutureOperation each = inbox.poll(); each != null; each = inbox.poll()) {
      fail.accept(each);
    }
    // Wakes the threads that wait for room, so that they find the client closed.
    room.release(Math.max(0, Integer.MAX_VALUE / 2 - room.availablePermits()));
  }

  /** Receives the outcomes of the client's operations. The token is the index in {@link #begun}. */
  private final class Handler implements OperationHandler {
    @Override
    public void onGet(long token, MemorySegment memory, long offset, long length) {
      FutureOperation operation = free((int) token);
      try {
        operation.got(
            length < 0 ? null : memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE));
      } catch (OutOfMemoryError e) {
        operation.failed(e);
      }
      over(operation);
    }

    @Override
    public void onPut(long token) {
      onDelete(token, false);
    }

    @Override
    public void onDelete(long token, boolean existed) {
      FutureOperation operation = free((int) token);
      operation.done(existed);
      over(operation);
    }

    @Override
    public void onConditional(long token, boolean done) {
      onDelete(token, done);
    }

    @Override
    public void onError(long token, ErdaException error) {
      FutureOperation operation = free((int) token);
      operation.failed(error);
      over(operation);
    }
  }
}
