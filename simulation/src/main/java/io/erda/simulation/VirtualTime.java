package io.erda.simulation;

import java.util.Arrays;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * The clock of a simulation and the events that will happen, by virtual nanoseconds.
 *
 * <p>Deterministic: the same seed and the same calls give the same run. Events of one instant
 * happen in an order drawn from the seed, so two events that need an order must get different
 * times. One thread at a time.
 */
public final class VirtualTime implements LongSupplier {
  /** No event is waiting. */
  public static final long NEVER = Long.MAX_VALUE;

  private final RandomGenerator random;
  private long nowNs;
  private long sequence;
  private int size;
  private long[] timesNs = new long[64];
  private long[] ties = new long[64];
  private Runnable[] events = new Runnable[64];

  /** The fiber that runs now; null while the caller of the simulation does. */
  Fiber running;

  /** Starts at a seeded instant, because a monotonic clock has no meaningful zero. */
  public VirtualTime(RandomGenerator random) {
    this.random = random;
    this.nowNs = random.nextLong(1, 1L << 40);
  }

  /** The present, nanoseconds. */
  public long nowNs() {
    return nowNs;
  }

  @Override
  public long getAsLong() {
    return nowNs;
  }

  /** Schedules {@code event} at {@code timeNs}, or now if that has passed. */
  public void at(long timeNs, Runnable event) {
    if (size == events.length) {
      timesNs = Arrays.copyOf(timesNs, size * 2);
      ties = Arrays.copyOf(ties, size * 2);
      events = Arrays.copyOf(events, size * 2);
    }
    // The sequence in the low bits makes ties unique, so that the heap's shape never decides.
    long tie = ((long) random.nextInt() << 32) | (sequence++ & 0xFFFF_FFFFL);
    siftUp(size++, Math.max(timeNs, nowNs), tie, event);
  }

  /** Schedules {@code event} {@code delayNs} from now. */
  public void after(long delayNs, Runnable event) {
    at(nowNs + Math.max(0, delayNs), event);
  }

  /** When the next event happens, or {@link #NEVER}. */
  public long nextNs() {
    return size == 0 ? NEVER : timesNs[0];
  }

  /** Number of waiting events. */
  public int pending() {
    return size;
  }

  /** Runs the next event. Returns false when there is none. */
  public boolean step() {
    if (size == 0) {
      return false;
    }
    Runnable event = events[0];
    nowNs = Math.max(nowNs, timesNs[0]);
    size--;
    Runnable last = events[size];
    events[size] = null;
    if (size > 0) {
      siftDown(timesNs[size], ties[size], last);
    }
    event.run();
    return true;
  }

  /** Runs all events up to and including {@code timeNs}, and arrives there. Returns how many. */
  public long runUntil(long timeNs) {
    long count = 0;
    while (size > 0 && timesNs[0] <= timeNs) {
      step();
      count++;
    }
    nowNs = Math.max(nowNs, timeNs);
    return count;
  }

  /** As {@link #runUntil}, from now. */
  public long runFor(long durationNs) {
    return runUntil(nowNs + durationNs);
  }

  /**
   * Stops who calls for some time, while others go on. In a {@link Fiber} this is exact. Elsewhere
   * the caller goes on after those who were stopped meanwhile.
   */
  public void stop(long ns) {
    Fiber stopped = running;
    if (stopped == null) {
      runFor(ns);
    } else {
      after(ns, stopped::resume);
      stopped.stop();
    }
  }

  private boolean before(long timeNs, long tie, int other) {
    return timeNs < timesNs[other] || (timeNs == timesNs[other] && tie < ties[other]);
  }

  private void set(int at, long timeNs, long tie, Runnable event) {
    timesNs[at] = timeNs;
    ties[at] = tie;
    events[at] = event;
  }

  private void siftUp(int at, long timeNs, long tie, Runnable event) {
    int hole = at;
    while (hole > 0) {
      int parent = (hole - 1) >>> 1;
      if (!before(timeNs, tie, parent)) {
        break;
      }
      set(hole, timesNs[parent], ties[parent], events[parent]);
      hole = parent;
    }
    set(hole, timeNs, tie, event);
  }

  private void siftDown(long timeNs, long tie, Runnable event) {
    int hole = 0;
    while (true) {
      int child = 2 * hole + 1;
      if (child >= size) {
        break;
      }
      if (child + 1 < size && before(timesNs[child + 1], ties[child + 1], child)) {
        child++;
      }
      if (before(timeNs, tie, child)) {
        break;
      }
      set(hole, timesNs[child], ties[child], events[child]);
      hole = child;
    }
    set(hole, timeNs, tie, event);
  }
}
