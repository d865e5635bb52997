package io.erda.rdma;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Decides how a thread waits for work: the thread polls for a bounded time after its last work, and
 * then sleeps. One thread; no allocation.
 *
 * <pre>{@code
 * while (running) {
 *   if (poller.mayPoll(agent.doWork())) continue;
 *   if (armAll() && agent.doWork() == 0 && device.await(timeoutNs)) poller.woken();
 *   else poller.reset();
 * }
 * }</pre>
 *
 * <p><b>Costs.</b> A thread that polls takes a core, up to the budget after each burst of work.
 * During the first {@code spinNs} each turn is a pause instruction (tens of nanoseconds). After
 * that each turn yields the core to other threads (some hundred nanoseconds when none wants it), so
 * that more pollers than cores only slow each other down in proportion. Work after a sleep costs a
 * system call on both sides and a wake-up: some tens of microseconds. With a budget of 0 the thread
 * never polls; with {@link Long#MAX_VALUE} it never sleeps.
 *
 * <p>When other threads on the core never yield, each yield costs the rest of a time slice, which
 * is milliseconds. A poller that has lost more than a whole budget to one yield sleeps instead of
 * yielding, for a multiple of that time, and longer each time it happens again, because the kernel
 * runs a woken thread much sooner.
 *
 * <p>A poller that shares its core can ask for another one, because the kernel leaves two threads
 * that wait for each other on the same core for a long time.
 */
public final class Poller {
  /** The default time to spin: several round trips between processes that both poll. */
  public static final long DEFAULT_SPIN_NS = 2_000;

  /**
   * The default budget: about the cost of a sleep and its wake-up together. So polling without
   * success at most doubles the cost of sleeping at once.
   */
  public static final long DEFAULT_BUDGET_NS = 50_000;

  private static final int TURNS_PER_CLOCK = 16;

  /**
   * A yield that takes at least this long, and longer than the budget, has given the core to a
   * thread that does not yield.
   */
  private static final long CONTENDED_NS = 300_000;

  private static final int CONTENDED_MAX = 6;

  /**
   * A longer yield has let another thread run. A yield to no thread takes some hundred nanoseconds.
   */
  private static final long SHARED_NS = 1_500;

  /**
   * This many yields in a row that are longer than {@link #SHARED_NS} show that the core is shared.
   */
  private static final int SHARED_MAX = 4;

  /**
   * The least time between two attempts to get another core. The time grows when the attempts do
   * not help.
   */
  private static final long ASIDE_NS_MIN = 4_000_000;

  private static final long ASIDE_NS_MAX = 256_000_000;

  /** The longest time slice. In a longer pause the process was stopped. */
  private static final long SLICE_NS_MAX = 10_000_000;

  private final LongSupplier nanoTime;
  private final Runnable yield;
  private final long spinNs;
  private final long budgetNs;
  private int idleTurns;
  private long idleSince;
  private boolean yields;
  private boolean woken;

  /**
   * How often in a row a yield gave away the core for long, and the time until which no yield is
   * tried again.
   */
  private int contended;

  private long yieldsAgainNs;

  private final BooleanSupplier aside;

  /** How many yields in a row let another thread run. */
  private int shared;

  private long asideNs = ASIDE_NS_MIN;
  private boolean asideBefore;
  private long asideSinceNs;

  /**
   * @param nanoTime a monotonic clock
   * @param spinNs how long to spin before yielding
   * @param budgetNs how long to poll in vain before sleeping
   */
  public Poller(LongSupplier nanoTime, long spinNs, long budgetNs) {
    this(nanoTime, spinNs, budgetNs, () -> false);
  }

  /**
   * Makes a poller that can ask for another core.
   *
   * @param aside an action for the polling thread while it shares its core. It is called now and
   *     then, and more seldom when it does not help. It returns whether the thread has another core
   *     now
   */
  public Poller(LongSupplier nanoTime, long spinNs, long budgetNs, BooleanSupplier aside) {
    this(nanoTime, Thread::yield, spinNs, budgetNs, aside);
  }

  /** Makes a poller that yields by {@code yield}. */
  Poller(LongSupplier nanoTime, Runnable yield, long spinNs, long budgetNs, BooleanSupplier aside) {
    if (spinNs < 0 || budgetNs < 0) {
      throw new IllegalArgumentException("spin " + spinNs + " ns, budget " + budgetNs + " ns");
    }
    this.nanoTime = nanoTime;
    this.yield = yield;
    this.spinNs = spinNs;
    this.budgetNs = budgetNs;
    this.aside = aside;
  }

  /**
   * Decides how the thread goes on after a turn that did {@code work}. Returns true to poll again,
   * false to sleep.
   */
  public boolean mayPoll(int work) {
    if (work > 0) {
      idleTurns = 0;
      yields = false;
      if (woken) {
        woken = false;
        if (budgetNs > 0 && !isContended()) {
          yieldOnce(false);
        }
      }
      return true;
    }
    if (budgetNs == 0) {
      return false;
    }
    if (++idleTurns == TURNS_PER_CLOCK) {
      // The clock is read only here, so work that comes without a pause costs no reading of the
      // clock.
      idleSince = nanoTime.getAsLong();
    } else if (yields || (idleTurns & TURNS_PER_CLOCK - 1) == 0) {
      long idleNs = nanoTime.getAsLong() - idleSince;
      if (idleNs >= budgetNs) {
        return false;
      }
      yields = idleNs >= spinNs;
    }
    if (yields) {
      if (isContended()) {
        return false;
      }
      yieldOnce(true);
    } else {
      Thread.onSpinWait();
    }
    return true;
  }

  /** Whether a yield has recently given away the core for long. */
  private boolean isContended() {
    return contended > 0 && nanoTime.getAsLong() - yieldsAgainNs < 0;
  }

  /**
   * @param idle whether the poller had nothing to do. A short yield proves only then that no other
   *     thread wants the core: a poller that was just woken gets the core back at once in any case.
   */
  private void yieldOnce(boolean idle) {
    long beganNs = nanoTime.getAsLong();
    yield.run();
    long nowNs = nanoTime.getAsLong();
    if (idle && stepsAside(nowNs - beganNs, nowNs)) {
      contended = 0;
      return;
    }
    if (nowNs - beganNs < Math.max(CONTENDED_NS, budgetNs)) {
      contended = idle ? 0 : contended;
      return;
    }
    contended = Math.min(contended + 1, CONTENDED_MAX);
    yieldsAgainNs = nowNs + (Math.min(nowNs - beganNs, SLICE_NS_MAX) << contended);
  }

  private boolean stepsAside(long yieldNs, long nowNs) {
    if (yieldNs < SHARED_NS) {
      shared = 0;
      asideNs = ASIDE_NS_MIN;
      return false;
    }
    shared = yieldNs >= CONTENDED_NS ? SHARED_MAX : shared + 1;
    if (shared < SHARED_MAX || (asideBefore && nowNs - asideSinceNs < asideNs)) {
      return false;
    }
    asideBefore = true;
    asideSinceNs = nowNs;
    asideNs = Math.min(2 * asideNs, ASIDE_NS_MAX);
    shared = 0;
    return aside.getAsBoolean();
  }

  /** Begins a new budget. */
  public void reset() {
    idleTurns = 0;
    yields = false;
    woken = false;
  }

  /**
   * Resets as {@link #reset} does, after a sleep that another thread ended. The poller yields after
   * the first work, unless a yield has recently given away the core for long. The kernel often
   * wakes a thread on the core of the thread that woke it; the yield lets that thread run, which
   * polls for the answer.
   */
  public void woken() {
    reset();
    woken = true;
  }
}
