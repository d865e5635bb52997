package io.erda.client.calls;

import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps a client to one thread at a time, and lets any thread close it. What a client does with
 * memory is not checked against other threads, because that would cost more than the rest of a get;
 * so no second thread may ever get past {@link #enter}.
 *
 * <p><b>Owner.</b> The first thread that enters owns the client until it hands it over or ends. The
 * check is one load and one comparison: a thread that finds itself as the owner is the owner, since
 * nobody else stores that.
 *
 * <p><b>Closing.</b> Each call says that a thread is inside, then looks whether the client is being
 * closed; who closes says so, then looks whether somebody is inside. Between its store and its load
 * each needs a full fence, or both could miss the other. The caller of every get would pay more for
 * it than for the check of the owner, so whoever closes pays for both: it makes every thread of the
 * JVM pass a fence ({@link #fenceEveryThread}).
 */
public final class Confinement {
  private static final VarHandle OWNER;
  private static final VarHandle INSIDE;
  private static final VarHandle CLOSER;

  /** How long whoever closes sleeps first before it looks again at a thread that is inside. */
  private static final long LOOK_NS = 100_000;

  /** Each sleep is twice as long as the one before, and this at most: a handler may take long. */
  private static final long LOOK_NS_MAX = 50_000_000;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      OWNER = lookup.findVarHandle(Confinement.class, "owner", Thread.class);
      INSIDE = lookup.findVarHandle(Confinement.class, "inside", boolean.class);
      CLOSER = lookup.findVarHandle(Confinement.class, "closer", Thread.class);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  /** Null when nobody owns the client: the next thread that enters will. */
  @SuppressWarnings("unused") // through OWNER
  private Thread owner = Thread.currentThread();

  /** Whether the owner is in a call. Stored by the owner alone. */
  private boolean inside;

  /** The thread that closes, or has closed, the client; null while the client is open. */
  @SuppressWarnings("unused") // through CLOSER
  private volatile Thread closer;

  private final CountDownLatch closed = new CountDownLatch(1);

  /**
   * Begins a call. {@link #leave} ends it.
   *
   * @return false when the thread is in a call already, and this one is part of that
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
    // Opaque accesses stay in their order in the code; that the machine keeps it too is the
    // closer's part.
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

  /** Becomes the owner, if nobody is. */
  private void own() {
    requireOpen();
    Thread self = Thread.currentThread();
    Thread before = (Thread) OWNER.getAcquire(this);
    // What a thread that has ended did happened before isAlive() says so.
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

  /** The owner is none any more. */
  public void handOver() {
    if (!enter()) {
      throw new IllegalStateException("a handler can't hand its client over");
    }
    leave();
    OWNER.setRelease(this, null);
  }

  /** Whether this client is closed or another thread waits to close it. */
  public boolean isClosing() {
    return closer != null;
  }

  IllegalStateException closedBy() {
    return new IllegalStateException("the client was closed by " + name(closer));
  }

  /** A thread in words. */
  static String name(Thread thread) {
    return "thread \"" + thread.getName() + "\" (#" + thread.threadId() + ")";
  }

  /**
   * Closes the client: once, whoever asks first. Returns when that is done, except from a call of
   * the owner's (a handler): there it returns at once, and the client is closed when that call
   * ends, by way of {@link #closesOnLeaving}.
   *
   * <p>It does not wait for a thread that never comes back because the JVM ends ({@link
   * JvmEnd#comesBack}). Then nothing is released, since that thread is inside; what the client
   * holds goes with the process.
   *
   * @param wakeup ends the sleep of a thread that is inside; called until none is
   * @param end closes the client; nobody is inside, nor ever will be
   * @return whether this call has closed it
   */
  public boolean close(Runnable wakeup, Runnable end) {
    Thread self = Thread.currentThread();
    boolean within = OWNER.getOpaque(this) == self && inside;
    if (!CLOSER.compareAndSet(this, null, self)) {
      if (!within && closer != self) {
        awaitClosed();
      }
      return false;
    }
    if (within) {
      return false;
    }
    if (OWNER.getOpaque(this) != self) {
      fenceEveryThread();
      if (!awaitNobodyInside(wakeup)) {
        return false;
      }
    }
    end(end);
    return true;
  }

  /** Whether the thread in this call is to close the client when it leaves. */
  public boolean closesOnLeaving() {
    return closer == Thread.currentThread();
  }

  /** The end of it, by the thread that closes. */
  public void end(Runnable end) {
    try {
      end.run();
    } finally {
      closed.countDown();
    }
  }

  /** Returns false when the thread that is inside never comes back. */
  private boolean awaitNobodyInside(Runnable wakeup) {
    JvmEnd end = new JvmEnd();
    boolean interrupted = false;
    boolean back = true;
    for (long ns = LOOK_NS; back && (boolean) INSIDE.getAcquire(this); ) {
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

  /** Waits for another thread that closes, unless the JVM ends and keeps that one from it. */
  private void awaitClosed() {
    JvmEnd end = new JvmEnd();
    boolean interrupted = false;
    boolean over = false;
    while (!over) {
      try {
        over = closed.await(LOOK_NS_MAX, TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      over |= !end.comesBack((Thread) OWNER.getAcquire(this));
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Makes every thread of the JVM pass a full fence before this returns. The JVM closes a shared
   * arena by a handshake: each thread comes to a place where it is asked, or is in native code and
   * is asked when it comes back. That is how it makes sure that no thread is in an access to the
   * arena's memory, and just what is needed here.
   */
  private static void fenceEveryThread() {
    VarHandle.fullFence();
    Arena.ofShared().close();
    VarHandle.fullFence();
  }
}
