package io.erda.client.calls;

import io.erda.rdma.StackRoom;
import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps a client to one thread at a time, and lets any thread close it. A client's accesses to
 * memory are not guarded against other threads, because that would cost more than the rest of a
 * get; so {@link #enter} must never admit a second thread.
 *
 * <p><b>Owner.</b> The first thread that enters owns the client until it hands it over or ends. The
 * check is one load and one comparison: a thread that finds itself as the owner is the owner, since
 * no other thread stores its name.
 *
 * <p><b>Closing.</b> Each call stores that a thread is inside, then loads whether the client is
 * being closed; the closing thread stores that it closes, then loads whether a thread is inside.
 * Between its store and its load each needs a full fence, or both could miss the other. In every
 * get the fence would cost more than the check of the owner, so the closing thread provides both
 * fences: it makes every thread of the JVM pass one ({@link #fenceEveryThread}).
 */
public final class Confinement {
  private static final VarHandle OWNER;
  private static final VarHandle INSIDE;
  private static final VarHandle CLOSER;
  private static final VarHandle FAILED;

  /** The closing thread's first sleep while another thread is inside, in nanoseconds. */
  private static final long LOOK_NS = 100_000;

  /**
   * The longest sleep, in nanoseconds. Each sleep is twice as long as the previous one, because a
   * handler may take long.
   */
  private static final long LOOK_NS_MAX = 50_000_000;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      OWNER = lookup.findVarHandle(Confinement.class, "owner", Thread.class);
      INSIDE = lookup.findVarHandle(Confinement.class, "inside", boolean.class);
      CLOSER = lookup.findVarHandle(Confinement.class, "closer", Thread.class);
      FAILED = lookup.findVarHandle(Confinement.class, "failed", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  /** The thread that owns the client; null when the next thread that enters becomes the owner. */
  @SuppressWarnings("unused") // through OWNER
  private Thread owner = Thread.currentThread();

  /** Whether the owner is in a call. Only the owner stores it. */
  private boolean inside;

  /** The thread that closes, or has closed, the client; null while the client is open. */
  @SuppressWarnings("unused") // through CLOSER
  private volatile Thread closer;

  private final CountDownLatch closed = new CountDownLatch(1);

  /** Whether an error has ended the closing in the middle, and nobody has taken it over yet. */
  @SuppressWarnings("unused") // through FAILED
  private volatile boolean failed;

  /** The thread that calls handlers for the closing thread while the JVM ends; null otherwise. */
  private volatile Thread ending;

  /**
   * Begins a call. {@link #leave} ends it.
   *
   * @return false when the call is nested in another one of this thread
   * @throws WrongThreadException when another thread owns the client
   * @throws IllegalStateException when the client is closed, or is being closed
   */
  public boolean enter() {
    if ((Thread) OWNER.getOpaque(this) != Thread.currentThread()) {
      own();
    }
    if (inside) {
      requireOpen();
      return false;
    }
    INSIDE.setOpaque(this, true);
    // Opaque accesses keep their order in the code; the closing thread makes the machine keep it,
    // too.
    if ((Thread) CLOSER.getAcquire(this) != null) {
      leave();
      throw closedBy();
    }
    return true;
  }

  /** Ends the call whose {@link #enter} returned true. */
  public void leave() {
    INSIDE.setRelease(this, false);
  }

  private void requireOpen() {
    if (isClosing()) {
      throw closedBy();
    }
  }

  /** Makes the current thread the owner, if the client has none. */
  private void own() {
    requireOpen();
    Thread self = Thread.currentThread();
    Thread before = (Thread) OWNER.getAcquire(this);
    // All actions of a thread happen before isAlive() returns false for it.
    boolean free = before == null || !before.isAlive();
    if (!free || !OWNER.compareAndSet(this, before, self)) {
      Thread owns = (Thread) OWNER.getAcquire(this);
      throw new WrongThreadException(
          name(self)
              + " called a client that belongs to "
              + (owns == null ? "another thread" : name(owns))
              + "; make a client for each thread, or let its thread hand it over before another one"
              + " uses it");
    }
  }

  /** Gives up ownership: the next thread that enters becomes the owner. */
  public void handOver() {
    if (!enter()) {
      throw new IllegalStateException("a handler can't hand its client over");
    }
    leave();
    OWNER.setRelease(this, null);
  }

  /**
   * Gives up the ownership of a thread that enters no more.
   *
   * @return false when that thread is in the middle of a call
   */
  public boolean release() {
    Thread owns = (Thread) OWNER.getAcquire(this);
    if (owns == null) {
      return true;
    }
    fenceEveryThread();
    return !(boolean) INSIDE.getAcquire(this) && OWNER.compareAndSet(this, owns, null);
  }

  /** Whether this client is closed or another thread waits to close it. */
  public boolean isClosing() {
    return closer != null;
  }

  IllegalStateException closedBy() {
    return new IllegalStateException("the client was closed by " + name(closer));
  }

  /** Returns the name of a thread for messages. */
  static String name(Thread thread) {
    return "thread \"" + thread.getName() + "\" (#" + thread.threadId() + ")";
  }

  /**
   * Closes the client once, even if several threads call this. Returns when the client is closed.
   * If the closing fails in the middle, the next thread that calls this, or that waits here, does
   * the rest. A stack overflow comes before anything is closed, where possible.
   *
   * <p>Within a call of the owner (in a handler) it returns at once, and the client is closed when
   * that call ends: see {@link #closesOnLeaving}.
   *
   * <p>It does not wait for a thread that never leaves its call because the JVM ends ({@link
   * JvmEnd#comesBack}). Then it releases nothing, because that thread is still inside; the end of
   * the process releases the resources.
   *
   * @param wakeup ends the sleep of a thread that is inside; called repeatedly until no thread is
   *     inside
   * @param end closes the client; called when no thread is inside, and none can enter; called again
   *     when it has thrown an exception
   * @return whether this call has closed it
   */
  public boolean close(Runnable wakeup, Runnable end) {
    StackRoom.require(StackRoom.OF_CLOSE);
    Thread self = Thread.currentThread();
    boolean within = OWNER.getOpaque(this) == self && inside;
    if (!CLOSER.compareAndSet(this, null, self) && !takesOver(self, within)) {
      return false;
    }
    if (within) {
      return false;
    }
    boolean ready = false;
    try {
      if (OWNER.getOpaque(this) != self) {
        fenceEveryThread();
        if (!awaitNobodyInside(wakeup)) {
          ready = true;
          return false;
        }
      }
      ready = true;
    } finally {
      // No call, for which the stack may have no room.
      failed = !ready;
    }
    end(end);
    return true;
  }

  /**
   * Waits until the client is closed, unless this thread is closing it. Returns whether the closing
   * has failed and this thread does the rest.
   */
  private boolean takesOver(Thread self, boolean within) {
    boolean waits = !within && closer != self && ending != self;
    if (!FAILED.compareAndSet(this, true, false) && !(waits && awaitClosed())) {
      return false;
    }
    CLOSER.setVolatile(this, self);
    return true;
  }

  /** Called by the thread that calls the handlers while the client is closed. */
  public void callsHandlersHere() {
    ending = Thread.currentThread();
  }

  /** Whether the current thread must close the client when it leaves its call. */
  public boolean closesOnLeaving() {
    return closer == Thread.currentThread();
  }

  /** Closes the client. Called by a thread for which {@link #closesOnLeaving} is true. */
  public void end(Runnable end) {
    boolean done = false;
    try {
      StackRoom.require(StackRoom.OF_CLOSE);
      end.run();
      closed.countDown();
      done = true;
    } finally {
      if (!done) {
        // No call, for which the stack may have no room.
        ending = null;
        failed = true;
      }
    }
  }

  /**
   * Waits until no thread is inside. A thread that has ended is not inside, even if an error kept
   * it from leaving. Returns false when the thread that is inside never leaves its call.
   */
  private boolean awaitNobodyInside(Runnable wakeup) {
    JvmEnd end = new JvmEnd();
    boolean interrupted = false;
    boolean back = true;
    for (long ns = LOOK_NS; back && isSomebodyInside(); ) {
      wakeup.run();
      LockSupport.parkNanos(this, ns);
      interrupted |= Thread.interrupted();
      ns = Math.min(2 * ns, LOOK_NS_MAX);
      back = end.comesBack((Thread) OWNER.getAcquire(this));
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return back;
  }

  private boolean isSomebodyInside() {
    Thread owns = (Thread) OWNER.getAcquire(this);
    return (boolean) INSIDE.getAcquire(this) && (owns == null || owns.isAlive());
  }

  /**
   * Waits until another thread has closed the client, unless the end of the JVM stops that thread.
   *
   * @return whether that thread failed, so that this one has to close the client
   */
  private boolean awaitClosed() {
    JvmEnd end = new JvmEnd();
    boolean interrupted = false;
    boolean over = false;
    boolean takesOver = false;
    while (!over) {
      try {
        over = closed.await(LOOK_NS_MAX, TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      takesOver = !over && FAILED.compareAndSet(this, true, false);
      over |= takesOver || !end.comesBack((Thread) OWNER.getAcquire(this));
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return takesOver;
  }

  /**
   * Makes every thread of the JVM pass a full fence before this returns. It closes a shared arena,
   * for which the JVM makes a handshake with each thread, at a safepoint or when the thread returns
   * from native code. The JVM needs that to know that no thread accesses the arena's memory; the
   * fences come with it.
   */
  private static void fenceEveryThread() {
    VarHandle.fullFence();
    Arena.ofShared().close();
    VarHandle.fullFence();
  }
}
