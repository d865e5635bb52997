package io.erda.server;

import io.erda.server.engine.service.ServerCore;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Measures the time of steps that did work, which is the cost of a server apart from its polling.
 * Each step reads the clock twice, so a server is only timed on request. Belongs to the thread that
 * takes the steps.
 */
final class TimedSteps implements Steps {
  private final Steps steps;
  private final LongSupplier nanoTime;
  private long workNs;

  private TimedSteps(Steps steps, LongSupplier nanoTime) {
    this.steps = steps;
    this.nanoTime = nanoTime;
  }

  /**
   * Times the steps of a core, which then has the figure {@code server.work.ns}.
   *
   * @param nanoTime a monotonic clock
   */
  static TimedSteps of(Steps steps, ServerCore core, LongSupplier nanoTime) {
    TimedSteps timed = new TimedSteps(steps, nanoTime);
    timed.tellTo(core);
    return timed;
  }

  @Override
  public int doWork() {
    long beganNs = nanoTime.getAsLong();
    int work = steps.doWork();
    if (work > 0) {
      workNs += nanoTime.getAsLong() - beganNs;
    }
    return work;
  }

  @Override
  public Map<String, Long> figures() {
    return steps.figures();
  }

  @Override
  public long arm() {
    return steps.arm();
  }

  @Override
  public void change(Supplier<ServerCore> next) {
    steps.change(() -> {
      ServerCore core = next.get();
      tellTo(core);
      return core;
    });
  }

  private void tellTo(ServerCore core) {
    core.figure("server.work.ns", () -> workNs);
  }

  @Override
  public void end() {
    steps.end();
  }
}
