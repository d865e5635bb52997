package io.erda.client.shared;

import io.erda.client.ClientOptions;
import io.erda.client.ClientStatistics;
import io.erda.client.ErdaAsyncClient;
import io.erda.client.OperationHandler;
import io.erda.client.calls.JvmEnd;
import io.erda.client.connections.Devices;
import io.erda.protocol.ErdaException;
import io.erda.protocol.JvmErrors;
import io.erda.rdma.Poller;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The thread of an {@code ErdaFutures}: takes over what others submit, has it done by an {@link
 * ErdaAsyncClient}, which it owns, and completes the futures.
 *
 * <p><b>Inbox.</b> Whoever submits adds to the inbox, then looks whether the thread sleeps, and
 * wakes it; the thread says that it sleeps, then looks at the inbox. So one of the two sees the
 * other.
 *
 * <p><b>Closing.</b> Whoever submits adds, then looks whether the inbox was closed, and tries to
 * take its operation out again; the thread closes the inbox, then empties it. An operation is taken
 * out once, so it is either completed or refused.
 */
public final class FutureDriver {
  /** A sleep is bounded, as that of a blocking call is. */
  private static final long SLEEP_NS = 100_000_000;

  /** How often whoever closes looks whether the JVM ends meanwhile. */
  private static final long LOOK_MS = 50;

  private final int pendingMax;
  private final long waitNs;
  private final Semaphore room;
  private final AtomicInteger pending = new AtomicInteger();
  private final ConcurrentLinkedQueue<FutureOperation> inbox = new ConcurrentLinkedQueue<>();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Poller poller;
  private final Thread thread;

  private volatile boolean asleep;

  /** Whether somebody wants the thread to end. */
  private volatile boolean closing;

  /** Whether nobody can submit any more: the thread ends when nothing is pending. */
  private volatile boolean abandoned;

  /** Whether nothing is taken out of the inbox any more. */
  private volatile boolean inboxClosed;

  /** The error that ended the thread; null where somebody had closed the client. */
  private volatile Throwable failure;

  private ErdaAsyncClient client;
  private Runnable wakeup;

  // The thread's own.
  private final FutureQueues queues = new FutureQueues();

  /** Operations that the client has, by token; free places are null. */
  private final FutureOperation[] begun = new FutureOperation[2 * ClientOptions.PIPELINE_DEPTH_MAX];

  private final int[] freeTokens = new int[begun.length];
  private int free;

  /** Operations that ended and whose future is not completed: that is done between two steps. */
  private List<Runnable> outcomes = new ArrayList<>();

  private List<Runnable> telling = new ArrayList<>();

  /** Operations that this thread itself submitted, and that have not ended. */
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
   * Begins. Owns the client from here on.
   *
   * @param endSleep ends the sleep of the thread that is in the client's {@code await}
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

  public int pending() {
    return pending.get();
  }

  public ClientStatistics statistics() {
    return client.statistics();
  }

  // Threads that submit.

  /**
   * Takes over an operation.
   *
   * @throws IllegalStateException when the client is closed; nothing is submitted
   */
  public void submit(FutureOperation operation) {
    requireOpen();
    operation.own = Thread.currentThread() == thread;
    if (!enter(operation)) {
      return;
    }
    pending.incrementAndGet();
    inbox.add(operation);
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

  /** Waits for room. Returns false, and completes the future, when there was none. */
  private boolean enter(FutureOperation operation) {
    if (operation.own) {
      if (own < pendingMax) {
        own++;
        return true;
      }
      operation.failed(
          new ErdaException.Unavailable(
              own + " operations of the client's own thread are pending: nothing was sent"));
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

  /** An operation that was counted is pending no more. */
  private void leave(FutureOperation operation) {
    pending.decrementAndGet();
    if (operation.own) {
      own--;
    } else {
      room.release();
    }
  }

  /**
   * Ends the thread, and waits for that; not when it is in {@link System#exit}, which waits for the
   * hook that calls this ({@link JvmEnd}): then what it holds goes with the process.
   */
  public void close() {
    closing = true;
    if (Thread.currentThread() == thread) {
      return;
    }
    wakeIfAsleep();
    JvmEnd end = new JvmEnd();
    boolean interrupted = false;
    boolean over = false;
    while (!over) {
      try {
        over = ended.await(LOOK_MS, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      over |= !end.comesBack(thread);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends the thread once every future is completed. REQUIRES: nobody submits any more. */
  public void abandon() {
    abandoned = true;
    wakeIfAsleep();
  }

  private boolean isOver() {
    return closing || (abandoned && pending.get() == 0);
  }

  /** Wakes the thread for what was stored for it. The thread says that it sleeps, then looks. */
  private void wakeIfAsleep() {
    if (asleep) {
      wakeup.run();
    }
  }

  // The thread.

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
      end();
    }
  }

  private int turn() {
    int work = takeInbox() + begin(true) + begin(false) + client.doWork();
    return work + tell();
  }

  /** Polls while something is under way; a client that nobody uses sleeps at once. */
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
      queues.add(each);
      taken++;
    }
    return taken;
  }

  /** Gives the client what it has room for. */
  private int begin(boolean gets) {
    int count = 0;
    for (FutureOperation next = queues.next(gets); next != null; next = queues.next(gets)) {
      if (next.future().isDone()) {
        // It was cancelled.
        queues.taken(gets);
        over(next, () -> {});
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
   * Ends an operation that had no room in the pipeline for as long as an operation may take: a
   * server that answers nobody would hold it for the time-outs of all that are before it.
   */
  private void giveUp(FutureOperation next, boolean gets) {
    queues.taken(gets);
    over(
        next,
        () ->
            next.failed(
                new ErdaException.Unavailable(
                    "waited "
                        + TimeUnit.NANOSECONDS.toMillis(waitNs)
                        + " ms behind other operations: nothing was sent")));
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
      over(next, () -> next.failed(e));
      return true;
    } catch (RuntimeException | Error e) {
      // The client may know of it; if it does, it tells when it is closed now.
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

  /** An operation ended: others of its key may begin, and its future is completed soon. */
  private void over(FutureOperation operation, Runnable outcome) {
    queues.ended(operation);
    outcomes.add(() -> {
      // Room first: whoever hears of this may submit the next one.
      leave(operation);
      outcome.run();
    });
  }

  /**
   * Completes futures, outside of every call of the client's: a dependent may do anything there. Of
   * what ends meanwhile the next turn tells.
   */
  private int tell() {
    List<Runnable> now = outcomes;
    outcomes = telling;
    telling = now;
    int count = now.size();
    for (Runnable each : now) {
      try {
        each.run();
      } catch (Throwable e) {
        // A future keeps what its dependents throw; this is the end of the stack, or of the heap.
        thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
      }
    }
    now.clear();
    return count;
  }

  private void end() {
    inboxClosed = true;
    try {
      client.close();
    } catch (Throwable e) {
      failure = failure == null ? e : failure;
    }
    ErdaException never =
        new ErdaException.Unavailable(
            failure == null
                ? "the client was closed before this was sent"
                : "the client ended before this was sent: " + failure);
    List<FutureOperation> left = queues.drain();
    for (FutureOperation each : begun) {
      if (each != null) {
        left.add(each);
      }
    }
    for (FutureOperation each = inbox.poll(); each != null; each = inbox.poll()) {
      left.add(each);
    }
    for (FutureOperation each : left) {
      outcomes.add(() -> {
        leave(each);
        each.failed(never);
      });
    }
    // Those who wait for room find the client closed.
    room.release(Integer.MAX_VALUE / 2);
    tell();
    ended.countDown();
  }

  /** Hears of the client's operations; the token is the place in {@link #begun}. */
  private final class Handler implements OperationHandler {
    @Override
    public void onGet(long token, MemorySegment memory, long offset, long length) {
      FutureOperation operation = free((int) token);
      try {
        byte[] value =
            length < 0 ? null : memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
        over(operation, () -> operation.got(value));
      } catch (OutOfMemoryError e) {
        over(operation, () -> operation.failed(e));
      }
    }

    @Override
    public void onPut(long token) {
      onDelete(token, false);
    }

    @Override
    public void onDelete(long token, boolean existed) {
      FutureOperation operation = free((int) token);
      over(operation, () -> operation.done(existed));
    }

    @Override
    public void onConditional(long token, boolean done) {
      onDelete(token, done);
    }

    @Override
    public void onError(long token, ErdaException error) {
      FutureOperation operation = free((int) token);
      over(operation, () -> operation.failed(error));
    }
  }
}
