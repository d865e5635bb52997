package io.erda.client.shared;

import io.erda.client.ErdaClient;
import io.erda.protocol.ErdaException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedDeque;
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
 * back, or takes it over, removes that mark by compare-and-swap, and only one of them succeeds. A
 * waiting thread takes a place over whose mark stays.
 *
 * <p>A thread whose mark stays may also be alive, and stopped by the system for as long. So each
 * taking of a place has a {@link Slot#ticket} of its own, which is its mark. A thread whose place
 * was taken over can't remove the mark of a later taking. It finds that out before it does anything
 * else with the place or its client.
 */
public final class PoolSlots {
  /** A place, and its client. */
  public static final class Slot {
    private final int index;

    /** Whether a thread has taken it. */
    @SuppressWarnings("unused") // through TAKEN
    private volatile boolean taken;

    /**
     * The ticket of the thread that has taken the place and is about to give it back; 0 for none.
     * That thread stores it just before it calls {@link PoolSlots#giveBack}.
     */
    public int left;

    /**
     * The number of the present taking, never 0 then. It does not change until the thread that has
     * taken the place marks it as left.
     */
    public int ticket;

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

    /** Nothing is called behind the swap, so that no error loses the place. */
    private boolean take() {
      if (taken || !TAKEN.compareAndSet(this, false, true)) {
        return false;
      }
      ticket = ticket == -1 ? 1 : ticket + 1;
      return true;
    }

    /**
     * Removes the mark of {@link #left}, if it is that of a ticket. Returns false when another
     * thread has removed it.
     */
    public boolean unmark(int of) {
      return LEFT.compareAndSet(this, of, 0);
    }

    /**
     * Removes a mark, and takes the place. Returns false when another thread has done that. Nothing
     * is called behind that, as in {@link #take}.
     */
    private boolean takeMarked(int of) {
      if (!unmark(of)) {
        return false;
      }
      ticket = of == -1 ? 1 : of + 1;
      return true;
    }
  }

  /** A thread in the queue. */
  private static final class Waiter {
    final Thread thread = Thread.currentThread();

    /**
     * The place that the waiting thread was given, as {@link #gift}; 0 for none, {@link #GONE} when
     * it no longer waits.
     */
    @SuppressWarnings("unused") // through GIVEN
    private volatile long given;

    /** When it looked for places that were left last. */
    private long lookedNs = NOW;

    /** The mark of each place then. */
    private final int[] marked;

    Waiter(int slots) {
      marked = new int[slots];
    }

    /** Gives a place to the thread, which is to be woken then. Returns false when it has left. */
    boolean give(long gift) {
      return GIVEN.compareAndSet(this, 0L, gift);
    }

    /** Stops waiting. Returns the place that the thread was given; 0 when there is none. */
    long leave() {
      return GIVEN.compareAndSet(this, 0L, GONE) ? 0 : given;
    }
  }

  /** Stands for a place that a thread, which no longer waits, can't be given. */
  private static final long GONE = -1;

  private static final VarHandle TAKEN;
  private static final VarHandle LEFT;
  private static final VarHandle GIVEN;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      TAKEN = lookup.findVarHandle(Slot.class, "taken", boolean.class);
      LEFT = lookup.findVarHandle(Slot.class, "left", int.class);
      GIVEN = lookup.findVarHandle(Waiter.class, "given", long.class);
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
  static final long LEFT_NS = 50_000_000;

  /** How long the pool opens no connection after the server had no room for one. */
  private static final long MAKE_DO_NS = 1_000_000_000;

  private final Slot[] slots;
  private final long timeoutNs;
  private final LongSupplier nanoTime;
  private final Predicate<ErdaClient> isOpen;
  private final Predicate<ErdaClient> release;

  /** The place that each thread had last, by the thread's number; threads may share an element. */
  private final int[] hints = new int[HINTS];

  private final ConcurrentLinkedDeque<Waiter> line = new ConcurrentLinkedDeque<>();
  private volatile boolean makesDo;
  private volatile long makesDoUntilNs;
  private volatile boolean closed;

  /**
   * @param isOpen whether an opened client is still open
   * @param release lets any thread use a client whose thread does not use it any more; returns
   *     false when that thread is in the middle of a call
   */
  public PoolSlots(
      int count,
      long timeoutNs,
      LongSupplier nanoTime,
      Predicate<ErdaClient> isOpen,
      Predicate<ErdaClient> release) {
    this.isOpen = isOpen;
    this.release = release;
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
      found.left = found.ticket;
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
    boolean first = false;
    for (; ; ) {
      long gift = awaitGift(self, first, from, beganNs);
      if (gift == 0) {
        break;
      }
      // The place keeps its mark until this call has removed the thread from the queue; behind this
      // call nothing else is called.
      Slot given = taken(gift);
      if (given != null) {
        return given;
      }
      // Another thread took the place over before this thread woke up.
      self.given = 0;
      first = true;
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
   * Waits in the queue until the thread is given a place. Returns 0 when the time is over, or the
   * pool is closed.
   *
   * @param first whether the thread enters the queue as its first
   */
  private long awaitGift(Waiter self, boolean first, int from, long beganNs) {
    boolean interrupted = false;
    try {
      if (first) {
        line.addFirst(self);
      } else {
        line.add(self);
      }
      // A place may have been freed before this thread queued: the first in the queue gets it.
      serveFound(from);
      while (self.given == 0 && !closed) {
        long leftNs = timeoutNs - (nanoTime.getAsLong() - beganNs);
        if (leftNs <= 0) {
          break;
        }
        // More places may become usable although no place is given back, so the sleep is bounded.
        LockSupport.parkNanos(this, Math.min(leftNs, LEFT_NS));
        interrupted |= Thread.interrupted();
        if (self.given == 0) {
          serveFound(from);
          takeOver(self);
        }
      }
      return self.leave();
    } finally {
      line.remove(self);
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static long gift(Slot slot, int ticket) {
    return (long) (slot.index + 1) << Integer.SIZE | Integer.toUnsignedLong(ticket);
  }

  /** Takes the place of a {@link #gift}. Returns null when another thread has taken it. */
  private Slot taken(long gift) {
    Slot slot = slots[(int) (gift >>> Integer.SIZE) - 1];
    return slot.takeMarked((int) gift) ? slot : null;
  }

  /** Gives a free place, if there is one, to the first in the queue. */
  private void serveFound(int from) {
    Slot found = lookMarked(from);
    if (found != null) {
      serve(found, found.ticket);
    }
  }

  /**
   * Gives back the places that were marked as left when {@code self} looked last, and still are. A
   * client in the middle of a call is used by nobody again; it is closed when the garbage collector
   * finds it.
   */
  private void takeOver(Waiter self) {
    long now = nanoTime.getAsLong();
    if (self.lookedNs != NOW && now - self.lookedNs < LEFT_NS) {
      return;
    }
    self.lookedNs = now;
    for (Slot each : slots) {
      int mark = (int) LEFT.getAcquire(each);
      boolean stays = mark != 0 && mark == self.marked[each.index];
      self.marked[each.index] = mark;
      if (stays && each.takeMarked(mark)) {
        int ticket = each.ticket;
        try {
          each.client = released(each.client);
        } finally {
          each.left = ticket;
          serve(each, ticket);
        }
      }
    }
  }

  /** Returns a client if any thread may use it, otherwise null. */
  private ErdaClient released(ErdaClient client) {
    try {
      return client != null && release.test(client) ? client : null;
    } catch (RuntimeException e) {
      // The client is closed.
      return null;
    }
  }

  /**
   * Gives a place to the first in the queue; frees it when the queue is empty. Does nothing when
   * another thread has taken the place over.
   *
   * @param slot marked as left by the ticket
   */
  private void serve(Slot slot, int ticket) {
    int mark = ticket;
    while (mark != 0) {
      for (Waiter first = line.poll(); first != null; first = line.poll()) {
        // The place keeps its mark until the waiting thread removes it.
        if (first.give(gift(slot, mark))) {
          LockSupport.unpark(first.thread);
          return;
        }
      }
      if (!slot.unmark(mark)) {
        return;
      }
      slot.taken = false;
      // A thread may have queued, and checked the places before this one was free.
      boolean again = !line.isEmpty() && slot.take();
      if (again) {
        slot.left = slot.ticket;
      }
      mark = again ? slot.ticket : 0;
    }
  }

  /**
   * Gives a place back. REQUIRES: the caller has marked it as {@link Slot#left}.
   *
   * @param ticket of the caller
   */
  public void giveBack(Slot slot, int ticket) {
    serve(slot, ticket);
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
