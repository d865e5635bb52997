package io.erda.simulation.system;

import io.erda.simulation.Fiber;
import io.erda.simulation.SimulatedCrash;
import io.erda.simulation.VirtualTime;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.random.RandomGenerator;

/**
 * A simulated process: a state machine that is stepped repeatedly, soon while it has work, and
 * otherwise when its device has news or after its idle time.
 */
final class Node {
  private final VirtualTime time;
  private final RandomGenerator random;
  private final IntSupplier step;

  /** Null where its steps can't be stopped in the middle. */
  private final Fiber fiber;

  private final Consumer<SimulatedCrash> onCrash;
  private final long stepNs;
  private final long idleNs;
  private boolean dead;
  private boolean stepping;

  /** The result of the last step. */
  private int work;

  private long pausedUntilNs;
  private int slowness = 1;
  private long slowUntilNs;

  /** The number of the scheduled step; an event with an earlier number was superseded. */
  private long schedule;

  private long scheduledNs;
  private long steps;

  /**
   * @param fiber runs the steps if they may be stopped in the middle; else null
   * @param step returns 0 when there was nothing to do
   * @param onCrash called when a step ended in {@link SimulatedCrash}; the node is dead by then
   * @param stepNs about how long a step with work takes
   * @param idleNs how long a node without work sleeps at most
   */
  Node(
      VirtualTime time,
      RandomGenerator random,
      Fiber fiber,
      IntSupplier step,
      Consumer<SimulatedCrash> onCrash,
      long stepNs,
      long idleNs) {
    this.time = time;
    this.random = random;
    this.fiber = fiber;
    this.step = step;
    this.onCrash = onCrash;
    this.stepNs = stepNs;
    this.idleNs = idleNs;
    schedule(stepNs);
  }

  boolean isDead() {
    return dead;
  }

  long steps() {
    return steps;
  }

  /** Ends the stepping. */
  void kill() {
    dead = true;
  }

  /** Stops the stepping for a while. */
  void pause(long ns) {
    pausedUntilNs = Math.max(pausedUntilNs, time.nowNs() + ns);
  }

  /** Makes its steps take several times as long for a while. */
  void slowDown(int factor, long ns) {
    slowness = factor;
    slowUntilNs = time.nowNs() + ns;
  }

  /** Ends a pause or slowness. */
  void recover() {
    pausedUntilNs = 0;
    slowUntilNs = 0;
    if (!dead) {
      schedule(stepNs);
    }
  }

  /**
   * Runs an action of this process outside of its steps: no step comes while time passes in the
   * action.
   */
  void act(Runnable action) {
    if (fiber != null) {
      // Between two steps, and it is over when this returns.
      stepping = true;
      fiber.run(
          action,
          thrown -> {
            stepping = false;
            if (thrown != null) {
              throw new IllegalStateException(thrown);
            }
          });
      return;
    }
    boolean was = stepping;
    stepping = true;
    try {
      action.run();
    } finally {
      stepping = was;
    }
  }

  /** Wakes it, because there is news. */
  void wake() {
    // A step that would not come earlier is not scheduled: such steps would accumulate during a
    // pause.
    if (!dead && scheduledNs > Math.max(time.nowNs() + 2 * takesNs(stepNs), pausedUntilNs)) {
      schedule(stepNs);
    }
  }

  private long takesNs(long ns) {
    return time.nowNs() < slowUntilNs ? ns * slowness : ns;
  }

  private void schedule(long delayNs) {
    long mine = ++schedule;
    long soonNs = time.nowNs() + 1 + random.nextLong(2 * takesNs(delayNs));
    scheduledNs = Math.max(soonNs, pausedUntilNs);
    time.at(scheduledNs, () -> run(mine));
  }

  private void run(long number) {
    if (dead || number != schedule) {
      return;
    }
    // Time also passes within a step, while it waits for a drain.
    if (stepping || time.nowNs() < pausedUntilNs) {
      schedule(stepNs);
      return;
    }
    steps++;
    stepping = true;
    if (fiber == null) {
      try {
        work = step.getAsInt();
      } catch (SimulatedCrash crash) {
        stepped(crash);
        return;
      } finally {
        stepping = false;
      }
      stepped(null);
    } else {
      fiber.run(
          () -> work = step.getAsInt(),
          thrown -> {
            stepping = false;
            stepped(thrown);
          });
    }
  }

  /** A step has ended. */
  private void stepped(Throwable thrown) {
    switch (thrown) {
      case null -> {
        if (!dead) {
          schedule(work > 0 ? stepNs : idleNs);
        }
      }
      case SimulatedCrash crash -> {
        if (!dead) {
          dead = true;
          onCrash.accept(crash);
        }
      }
      case Error error -> throw error;
      default -> throw new IllegalStateException(thrown);
    }
  }
}
