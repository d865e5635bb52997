package io.erda.simulation;

import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

/**
 * Runs the steps of one simulated process on a thread of its own, so that the process can be
 * stopped in the middle of a call while others go on: {@link VirtualTime#stop}. At each moment one
 * thread of a simulation runs, and all others wait, so a run remains deterministic.
 */
public final class Fiber {
  private final VirtualTime time;

  /** Has a permit when the fiber may run. */
  private final Semaphore turn = new Semaphore(0);

  /** Has a permit when the fiber has stopped, or its step has ended. */
  private final Semaphore over = new Semaphore(0);

  /** Null until the first step. */
  private Thread thread;

  private Runnable step;
  private Consumer<Throwable> onEnd;
  private Throwable thrown;
  private boolean stopped;
  private boolean ending;

  public Fiber(VirtualTime time) {
    this.time = time;
  }

  /**
   * Begins a step, and returns when it has ended or stopped. REQUIRES: it is not stopped.
   *
   * @param afterwards called when the step has ended, perhaps later, by whoever is running then;
   *     with what the step threw, or null
   */
  public void run(Runnable body, Consumer<Throwable> afterwards) {
    assert step == null : "one step at a time";
    step = body;
    onEnd = afterwards;
    if (thread == null) {
      thread = Thread.ofVirtual().unstarted(this::steps);
      thread.start();
    }
    go();
  }

  private void steps() {
    turn.acquireUninterruptibly();
    while (!ending) {
      try {
        step.run();
      } catch (Throwable e) {
        thrown = e;
      }
      step = null;
      over.release();
      turn.acquireUninterruptibly();
    }
    over.release();
  }

  private void go() {
    Fiber before = time.running;
    time.running = this;
    turn.release();
    over.acquireUninterruptibly();
    time.running = before;
    if (step == null && onEnd != null) {
      Consumer<Throwable> told = onEnd;
      Throwable why = thrown;
      onEnd = null;
      thrown = null;
      told.accept(why);
    }
  }

  /** Stops the fiber, which calls this, until {@link #resume}. */
  void stop() {
    stopped = true;
    over.release();
    turn.acquireUninterruptibly();
    stopped = false;
    if (ending) {
      throw new SimulatedCrash("the run is over");
    }
  }

  /** Makes a stopped fiber go on. Returns when its step has ended, or it stops again. */
  void resume() {
    if (stopped && !ending) {
      go();
    }
  }

  /**
   * Ends the step in which it is stopped, if it is, then takes a last step, and ends its thread.
   */
  public void end(Runnable last) {
    onEnd = null;
    if (stopped) {
      ending = true;
      go();
      ending = false;
    }
    thrown = null;
    run(last, why -> {});
    ending = true;
    go();
  }
}
