package io.erda.server;

import io.erda.server.engine.service.ServerCore;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Measures the time of steps that did work, which is the cost of a server apart from its polling.
 * Each step reads the clock twice, so a server is only timed on request. The core has the figure
 * {@code server.work.ns}.
 */
final class TimedSteps extends Steps {
  private final LongSupplier nanoTime;
  private long workNs;

  /**
   * @param nanoTime a monotonic clock
   */
  TimedSteps(ServerCore core, LongSupplier nanoTime) {
    super(core);
    this.nanoTime = nanoTime;
    tellTo(core);
  }

  @Override
  int doWork() {
    long beganNs = nanoTime.getAsLong();
    int work = super.doWork();
    if (work > 0) {
      workNs += nanoTime.getAsLong() - beganNs;
    }
    return work;
  }

  @Override
  void change(Supplier<ServerCore> next) {
    super.change(next);
    tellTo(core);
  }

  private void tellTo(ServerCore over) {
    over.figure("server.work.ns", () -> workNs);
  }
}
