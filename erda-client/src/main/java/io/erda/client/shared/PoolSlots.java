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
 * The places of a pool's clients, each taken by one thread at a time. No word is common to all who
 * take one: a thread looks first at the place that it had last, where it most likely is alone.
 *
 * <p><b>Waiting.</b> Who finds nothing looks again for a millisecond, in which most calls end; then
 * it stands in line. A place that is given back goes to the first in line, as long as somebody
 * stands there. Whoever gives back frees the place, then looks at the line; whoever waits gets in
 * line, then looks at the places: one of the two sees the other.
 */
public final class PoolSlots {
  /** A place, and its client. */
  public static final class Slot {
    private final int index;

    /** Whether a thread has it. */
    @SuppressWarnings("unused") // through TAKEN
    private volatile boolean taken;

    /** Null until it is opened. Stored by the thread that has the place; closed by any. */
    public volatile ErdaClient client;

    private Slot(int index) {
      this.index = index;
    }

    private boolean take() {
      return !taken && TAKEN.compareAndSet(this, false, true);
    }
  }

  /** A thread in line. */
  private static final class Waiter {
    private static final Slot GONE = new Slot(-1);

    final Thread thread = Thread.currentThread();

    /** The slot that the waiting thread was given; {@link #GONE} when it waits no more. */
    @SuppressWarnings("unused") // through GIVEN
    private volatile Slot given;

    /** Returns false when it waits no more. */
    boolean give(Slot slot) {
      if (!GIVEN.compareAndSet(this, null, slot)) {
        return false;
      }
      LockSupport.unpark(thread);
      return true;
    }

    /** Waits no more. Returns the slot that it was given before that; null: none. */
    Slot leave() {
      return GIVEN.compareAndSet(this, null, GONE) ? null : given;
    }
  }

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

  /** A time that no clock tells. */
  public static final long NOW = Long.MIN_VALUE;

  private static final int HINTS = 256;
  private static final long LOOK_NS = 1_000_000;
  private static final long PAUSE_NS = 20_000;
  private static final int SPINS = 64;

  /** How long the pool makes do with the connections it has, once the server had no room. */
  private static final long MAKE_DO_NS = 1_000_000_000;

  private final Slot[] slots;
  private final long timeoutNs;
  private final LongSupplier nanoTime;
  private final Predicate<ErdaClient> isOpen;

  /** The place that a thread had last, by its number; another thread's now and then. */
  private final int[] hints = new int[HINTS];

  private final ConcurrentLinkedQueue<Waiter> line = new ConcurrentLinkedQueue<>();
  private volatile boolean makesDo;
  private volatile long makesDoUntilNs;
  private volatile boolean closed;

  /**
   * @param isOpen whether a client that was opened was not closed since
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

  /** How many places have a client that is open. */
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
   * Takes a place: one with a client if there is one, else one where a client may be opened.
   *
   * @param beganNs since when the caller waits; {@link #NOW} from now on
   * @throws ErdaException.Unavailable when none was free in time
   * @throws IllegalStateException when the pool is closed
   */
  public Slot take(long beganNs) {
    requireOpen();
    int hint = hintOf(Thread.currentThread());
    Slot last = slots[hints[hint]];
    // Whoever stands in line is served first.
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

  /** Takes a place that is free, or returns null. */
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

  /** When a wait began: now, where it did not before. */
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
    line.add(self);
    boolean interrupted = false;
    try {
      // A place that was freed before somebody stood here: the first in line gets it.
      serve(look(from));
      while (self.given == null && !closed) {
        long leftNs = timeoutNs - (nanoTime.getAsLong() - beganNs);
        if (leftNs <= 0) {
          break;
        }
        // What the pool makes do with may grow without anybody giving back.
        LockSupport.parkNanos(this, makesDo ? Math.min(leftNs, MAKE_DO_NS) : leftNs);
        interrupted |= Thread.interrupted();
        if (self.given == null) {
          serve(look(from));
        }
      }
      Slot given = self.leave();
      if (given != null) {
        return given;
      }
    } finally {
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

  /** Gives a place, which was taken, to the first in line; frees it when there is nobody. */
  private void serve(Slot slot) {
    Slot left = slot;
    while (left != null) {
      for (Waiter first = line.poll(); first != null; first = line.poll()) {
        if (first.give(left)) {
          return;
        }
      }
      left.taken = false;
      // Somebody may have got in line, and looked before the place was free.
      left = line.isEmpty() || !left.take() ? null : left;
    }
  }

  /** A place is free again. */
  public void giveBack(Slot slot) {
    serve(slot);
  }

  // Connections that the server has no room for.

  /**
   * The server had no room for the client of a place that was taken. Returns whether there are
   * others to make do with for a while.
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

  /** Closes all clients, in whosever hands they are. */
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
        // All are closed.
      }
    }
  }
}
