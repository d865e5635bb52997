package io.erda.server;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.erda.server.engine.service.ServerCore;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The steps of the server's thread beside other threads that take some. */
class TurnStepsTest {
  private static final int STEPS = 1_000;

  @TempDir Path data;

  /**
   * A turn that was taken before there was no memory for the step was never given back. {@code
   * close()} waited for it for ever.
   */
  @Test
  void anIdleStepTakesNoMemory() {
    try (OpenedStore store = OpenedStore.open(data, SmallStore.OPTIONS, OpenedStore.Purpose.HOLD)) {
      ServerCore core =
          new ServerCore(
              store.engine(), ServerAssembly.serviceOptions(SmallStore.OPTIONS), System::nanoTime);
      TurnSteps steps = new TurnSteps(core, new StepTurn(System::nanoTime));
      ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      for (int i = 0; i < 10; i++) {
        steps.doWork();
      }
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < STEPS; i++) {
        steps.doWork();
      }
      long taken = threads.getCurrentThreadAllocatedBytes() - before;
      assertTrue(taken < 8L * STEPS, taken + " bytes in " + STEPS + " steps");
    }
  }
}
