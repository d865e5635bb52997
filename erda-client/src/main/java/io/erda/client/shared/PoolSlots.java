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
 *
 * <p><b>Errors.</b> A call that needs more of the stack than is left, or of the heap, ends with an
 * error, and a thread that was about to give its place back may be unable to call anything. So it
 * first stores, without a call, that it has {@link Slot#left} the place. Whoever gives the place
 * back, or takes it over, replaces that mark by compare-and-swap, and only one of them succeeds. A
 * waiting thread takes a place over whose mark stays.
 */
public final class PoolSlots {
  /** A place, and its client. */
  public static final class Slot {
    private final int index;

    /** Whether a thread has taken it. */
    @SuppressWarnings("unused") // through TAKEN
    private volatile boolean taken;

    /**
     * Whether the thread that has taken the place is about to give it back. That thread stores true
     * just before it calls {@link PoolSlots#giveBack}.
     */
    public boolean left;

    /** The number of times that it was taken. Only the thread that takes it stores it. */
    private int times;

    /**
     * The client; null until it is opened. Only the thread that has taken the place stores it; any
     * thread may close the client.
     */
    public volatile ErdaClient client;

    /**
     * Whether the client must be replaced because a call with it threw an Error. Only the thread
     * that has taken the place stores it.
     */
    public boolean broken;

    private Slot(int index) {
      this.index = index;
    }

    private boolean take() {
      if (taken || !TAKEN.compareAndSet(this, false, true)) {
        return false;
      }
      times++;
      return true;
    }

    /** Removes the mark of {@link #left}. Returns false when another thread has removed it. */
    private boolean unmark() {
      return LEFT.compareAndSet(this, true, false);
    }
  }

  /** A thread in the queue. */
  private static final class Waiter {
    final Thread thread = Thread.currentThread();

    /** The slot that the waiting thread was given; {@link #GONE} when it no longer waits. */
    @SuppressWarnings("unused") // through GIVEN
    private volatile Slot given;

    /** When it looked for places that were left last. */
    private long lookedNs = NOW;

    /** For each place {@code 1 + times} of it if it was marked as left then; 0 if it was not. */
    private final int[] marked;

    Waiter(int slots) {
      marked = new int[slots];
    }

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
  private static final VarHandle LEFT;
  private static final VarHandle GIVEN;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      TAKEN = lookup.findVarHandle(Slot.class, "taken", boolean.class);
      LEFT = lookup.findVarHandle(Slot.class, "left", boolean.class);
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

  /** A place whose mark of being left stays for this long is taken over. */
  private static final long LEFT_NS = 50_000_000;

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

  /** As {@link #look(int)}; the place is marked as left, so that no error loses it. */
  private Slot lookMarked(int from) {
    Slot found = look(from);
    if (found != null) {
      found.left = true;
    }
    return found;
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
    Waiter self = new Waiter(slots.length);
    boolean interrupted = false;
    try {
      line.add(self);
      // A place may have been freed before this thread queued: the first in the queue gets it.
      serve(lookMarked(from));
      while (!closed) {
        Slot given = self.given;
        if (given != null && given.unmark()) {
          return given;
        }
        if (given != null) {
          // Another thread took the place over before this thread woke up.
          self.given = null;
          line.add(self);
        }
        long leftNs = timeoutNs - (nanoTime.getAsLong() - beganNs);
        if (leftNs <= 0) {
          break;
        }
        // More places may become usable although no place is given back, so the sleep is bounded.
        LockSupport.parkNanos(this, Math.min(leftNs, LEFT_NS));
        interrupted |= Thread.interrupted();
        if (self.given == null) {
          serve(lookMarked(from));
          takeOver(self);
        }
      }
      Slot given = self.leave();
      if (given != null && given.unmark()) {
        return given;
      }
    } finally {
      // A place that this thread was given, and did not take, keeps its mark and is taken over.
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

  /**
   * Gives back the places that were marked as left when {@code self} looked last, and still are. A
   * client that was not handed over is in the middle of something, and nobody uses it again; it is
   * closed when the garbage collector finds it.
   */
  private void takeOver(Waiter self) {
    long now = nanoTime.getAsLong();
    if (self.lookedNs != NOW && now - self.lookedNs < LEFT_NS) {
      return;
    }
    self.lookedNs = now;
    for (Slot each : slots) {
      int mark = each.left ? 1 + each.times : 0;
      boolean stays = mark != 0 && mark == self.marked[each.index];
      self.marked[each.index] = mark;
      if (stays && each.unmark()) {
        each.client = handedOver(each.client);
        each.left = true;
        serve(each);
      }
    }
  }

  /** Returns a client if any thread may use it, otherwise null. */
  private static ErdaClient handedOver(ErdaClient client) {
    try {
      if (client != null) {
        client.handOver();
      }
      return client;
    } catch (RuntimeException e) {
      return null;
    }
  }

  /**
   * Gives a place to the first in the queue; frees it when the queue is empty. Does nothing when
   * another thread has taken the place over.
   *
   * @param slot marked as left; null for none
   */
  private void serve(Slot slot) {
    Slot served = slot;
    while (served != null) {
      for (Waiter first = line.poll(); first != null; first = line.poll()) {
        // The place keeps its mark until the waiting thread removes it.
        if (first.give(served)) {
          LockSupport.unpark(first.thread);
          return;
        }
      }
      if (!served.unmark()) {
        return;
      }
      served.taken = false;
      // A thread may have queued, and checked the places before this one was free.
      boolean again = !line.isEmpty() && served.take();
      if (again) {
        served.left = true;
      }
      served = again ? served : null;
    }
  }

  /** Gives a place back. REQUIRES: the caller has marked it as {@link Slot#left}. */
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
