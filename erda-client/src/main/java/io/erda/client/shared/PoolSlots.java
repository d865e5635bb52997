package io.erda.client.shared;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * The places of a pool's clients, each taken by one thread at a time. No word of memory is shared
 * by all threads: a thread first tries the place that it had last, where it is probably alone.
 *
 * <p><b>Waiting.</b> A thread that finds no free place tries again for a millisecond, in which most
 * calls end; then it enters the queue. A place that is given back goes to the first thread in the
 * queue, if there is one. A thread that gives back a place first frees the place and then checks
 * the queue. A waiting thread first enters the queue and then checks the places. So at least one of
 * the two notices the other.
 */
public final class PoolSlots {
  /** A place, and its client. */
  public static final class Slot {
    private final int index;

    /** Whether a thread has taken it. */
    @SuppressWarnings("unused") // through TAKEN
    private volatile boolean taken;

    /**
     * The client; null until it is opened. Only the thread that has taken the place stores it; any
     * thread may close the client.
     */
    public volatile ErdaClient client;

    private Slot(int index) {
      this.index = index;
    }

    private boolean take() {
      return !taken && TAKEN.compareAndSet(this, false, true);
    }
  }

  /** A thread in the queue. */
  private static final class Waiter {
    final Thread thread = Thread.currentThread();

    /** The slot that the waiting thread was given; {@link #GONE} when it no longer waits. */
    @SuppressWarnings("unused") // through GIVEN
    private volatile Slot given;

    /** Gives a slot to the thread, which is to be woken then. Returns false when it has left. */
    boolean give(Slot slot) {
      return GIVEN.compareAndSet(this, null, slot);
    }

    /**
     * Stops waiting. Returns the slot that the thread was given before that; null when there is
     * none.
     */
    Slot leave() {
      return GIVEN.compareAndSet(this, null, GONE) ? null : given;
    }
  }

  /** Stands for a slot that a thread, which no longer waits, can't be given. */
  private static final Slot GONE = new Slot(-1);

  private static final VarHandle TAKEN;
  private static final VarHandle GIVEN;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      TAKEN = lookup.findVarHandle(Slot.class, "taken", boolean.class);
      GIVEN = lookup.findVarHandle(Waiter.class, "given", Slot.class);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  /** Stands for a wait that begins with the call; no clock returns this value. */
  public static final long NOW = Long.MIN_VALUE;

  private static final int HINTS = 256;
  private static final long LOOK_NS = 1_000_000;
  private static final long PAUSE_NS = 20_000;
  private static final int SPINS = 64;

  /** How long the pool opens no connection after the server had no room for one. */
  private static final long MAKE_DO_NS = 1_000_000_000;

  private final Slot[] slots;
  private final long timeoutNs;
  private final LongSupplier nanoTime;
  private final Predicate<ErdaClient> isOpen;

  /** The place that each thread had last, by the thread's number; threads may share an element. */
  private final int[] hints = new int[HINTS];

  private final ConcurrentLinkedQueue<Waiter> line = new ConcurrentLinkedQueue<>();
  private volatile boolean makesDo;
  private volatile long makesDoUntilNs;
  private volatile boolean closed;

  /**
   * @param isOpen whether an opened client is still open
   */
  public PoolSlots(int count, long timeoutNs, LongSupplier nanoTime, Predicate<ErdaClient> isOpen) {
    this.isOpen = isOpen;
    this.timeoutNs = timeoutNs;
    this.nanoTime = nanoTime;
    slots = new Slot[count];
    for (int i = 0; i < count; i++) {
      slots[i] = new Slot(i);
    }
  }

  public int count() {
    return slots.length;
  }

  /** How many places have an open client. */
  public int open() {
    int open = 0;
    for (Slot each : slots) {
      ErdaClient client = each.client;
      open += client != null && isOpen.test(client) ? 1 : 0;
    }
    return open;
  }

  public boolean isClosed() {
    return closed;
  }

  public static IllegalStateException closed() {
    return new IllegalStateException("the pool is closed");
  }

  /**
   * Takes a place: one with a client if such a place is free, otherwise one in which a client may
   * be opened.
   *
   * @param beganNs when the caller began to wait; {@link #NOW} for a wait that begins now
   * @throws ErdaException.Unavailable when no place was free in time
   * @throws IllegalStateException when the pool is closed
   */
  public Slot take(long beganNs) {
    requireOpen();
    int hint = hintOf(Thread.currentThread());
    Slot last = slots[hints[hint]];
    // Threads in the queue are served first.
    if (last.client != null && line.isEmpty() && last.take()) {
      return last;
    }
    Slot taken = line.isEmpty() ? look(hints[hint]) : null;
    if (taken == null) {
      taken = await(hints[hint], began(beganNs));
    }
    hints[hint] = taken.index;
    return taken;
  }

  public void requireOpen() {
    if (closed) {
      throw closed();
    }
  }

  private static int hintOf(Thread thread) {
    return (int) thread.threadId() & HINTS - 1;
  }

  /** Takes a free place, or returns null. */
  private Slot look(int from) {
    Slot found = look(from, true);
    return found == null && !makesDo() ? look(from, false) : found;
  }

  private Slot look(int from, boolean open) {
    for (int i = 0; i < slots.length; i++) {
      Slot each = slots[from + i < slots.length ? from + i : from + i - slots.length];
      if ((each.client != null) == open && each.take()) {
        return each;
      }
    }
    return null;
  }

  /**
   * Returns the time at which a wait began: {@code beganNs}, or the present time for {@link #NOW}.
   */
  public long began(long beganNs) {
    return beganNs == NOW ? nanoTime.getAsLong() : beganNs;
  }

  private Slot await(int from, long beganNs) {
    long lookNs = Math.min(LOOK_NS, timeoutNs);
    for (int i = 0; nanoTime.getAsLong() - beganNs < lookNs && line.isEmpty(); i++) {
      Slot found = look(from);
      if (found != null) {
        return found;
      }
      requireOpen();
      if (i < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(this, PAUSE_NS);
      }
    }
    return standInLine(from, beganNs);
  }

  private Slot standInLine(int from, long beganNs) {
    Waiter self = new Waiter();
    boolean interrupted = false;
    boolean leaves = false;
    try {
      line.add(self);
      // A place may have been freed before this thread queued: the first in the queue gets it.
      serve(look(from));
      while (self.given == null && !closed) {
        long leftNs = timeoutNs - (nanoTime.getAsLong() - beganNs);
        if (leftNs <= 0) {
          break;
        }
        // More places may become usable although no place is given back, so the sleep is bounded.
        LockSupport.parkNanos(this, makesDo ? Math.min(leftNs, MAKE_DO_NS) : leftNs);
        interrupted |= Thread.interrupted();
        if (self.given == null) {
          serve(look(from));
        }
      }
      leaves = true;
      Slot given = self.leave();
      if (given != null) {
        return given;
      }
    } finally {
      if (!leaves) {
        // An Error, a stack overflow for example: a slot that the thread was given must not be
        // lost.
        serve(self.leave());
      }
      line.remove(self);
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    requireOpen();
    throw new ErdaException.Unavailable(
        "no client was free within "
            + TimeUnit.NANOSECONDS.toMillis(timeoutNs)
            + " ms: all "
            + (makesDo ? open() + " that the server has room for" : slots.length + " of the pool")
            + " are lent");
  }

  /** Gives a taken place to the first in the queue; frees it when the queue is empty. */
  private void serve(Slot slot) {
    Slot left = slot;
    boolean served = false;
    try {
      while (left != null) {
        for (Waiter first = line.poll(); first != null; first = line.poll()) {
          if (first.give(left)) {
            served = true;
            LockSupport.unpark(first.thread);
            return;
          }
        }
        left.taken = false;
        served = true;
        // A thread may have queued, and checked the places before this one was free.
        left = line.isEmpty() || !left.take() ? null : left;
        served = left == null;
      }
    } finally {
      if (!served && left != null) {
        // An Error, a stack overflow for example, must not lose the place.
        left.taken = false;
      }
    }
  }

  /** Gives a place back. */
  public void giveBack(Slot slot) {
    serve(slot);
  }

  // Handling of connections for which the server has no room.

  /**
   * Notes that the server had no room for the client of a taken place. Returns whether other
   * clients can be used for a while.
   */
  public boolean makeDo(Slot without) {
    for (Slot each : slots) {
      if (each != without && each.client != null) {
        makesDoUntilNs = nanoTime.getAsLong() + MAKE_DO_NS;
        makesDo = true;
        return true;
      }
    }
    return false;
  }

  private boolean makesDo() {
    if (makesDo && nanoTime.getAsLong() - makesDoUntilNs >= 0) {
      makesDo = false;
    }
    return makesDo;
  }

  // The end.

  /** Closes all clients, also those that are lent. */
  public void close() {
    closed = true;
    for (Waiter each : line) {
      LockSupport.unpark(each.thread);
    }
    Throwable thrown = null;
    for (Slot each : slots) {
      ErdaClient client = each.client;
      try {
        if (client != null) {
          client.close();
        }
      } catch (RuntimeException | Error e) {
        thrown = thrown == null ? e : thrown;
      }
    }
    switch (thrown) {
      case RuntimeException unchecked -> throw unchecked;
      case Error error -> throw error;
      case null, default -> {
        // All clients are closed.
      }
    }
  }
}
